"""The repository as an nbgrader course: solutions/ is the source, labs/ the release."""

from nbgrader.preprocessors import SaveCells

from autograder.course import AFTER_SAVING, BEFORE_SAVING, hand_over

c = get_config()  # noqa: F821 (nbgrader defines it)

c.CourseDirectory.course_id = "dl-scale"
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "labs"
# Nothing of an instructor's folder may be copied beside a student's notebook.
c.CourseDirectory.ignore = [
    ".ipynb_checkpoints", "__pycache__", "*.py", "*.pyc", "*.toml", "cards", "feedback", "right", "wrong",
]  # fmt: skip
# formgrader's "generate" makes what `autograder release` makes.
c.GenerateAssignment.preprocessors = [*BEFORE_SAVING, SaveCells, *AFTER_SAVING]
# Its "autograde" and "generate feedback", and nbgrader's commands, do what `autograder grade` and `feedback` do.
hand_over(c)
c.Execute.timeout = 30
