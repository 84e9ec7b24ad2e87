"""Who is who: the people of an export of Canvas, Moodle or Gradescope, and the students of the gradebook."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from autograder.course import Student
from autograder.lms.keys import domain, fold, keys, together, unique, user
from autograder.lms.table import Table

__all__ = ["Match", "Person", "Roster"]

_ELSE = "somebody else in the roster has an id or address of {}"
_AT_ODDS = "this row contradicts itself: {} is {}, but {} is {}"
_ZEROS = "{} may be {} without its leading zeros, or with some: nothing else in this row says which of them it is"
_NAMESAKES = "{} have this name"


@dataclass(frozen=True)
class Person:
    """One row of a roster, or one student of the gradebook."""

    ids: tuple[str, ...]
    """Login, registration number and the like, the one that is best to use first."""
    number: str = ""
    """What the system calls the person in file names: Canvas's user, Moodle's participant, Gradescope's submission."""
    email: str = ""
    names: tuple[str, ...] = ()
    row: int = -1
    """Of the roster's rows, from 0."""

    @property
    def addresses(self) -> list[str]:
        """The e-mail addresses; many a login is one."""
        return list(dict.fromkeys(value for value in (self.email, *self.ids) if "@" in value))


@dataclass(frozen=True)
class Match:
    """Which student of the gradebook a person is."""

    student: str = ""
    """Empty if there is none, or if that cannot be told."""
    exact: bool = False
    """Whether an id or a whole address says so; else it is a guess, made of the part of an address before the @."""
    doubt: str = ""
    """Why somebody who may be a student is taken for none; empty if nothing hints at one."""


class Roster:
    """The people of an exported file, matched with the gradebook's students."""

    def __init__(
        self,
        people: Sequence[Person],
        students: Sequence[Student],
        table: Table | None = None,
        before: Sequence[Student] = (),
        *,
        tells_new: bool = False,
    ) -> None:
        """before: who was collected before; the gradebook may not know them yet. Their names only give a hint.

        tells_new: whether to say who is new though the gradebook is empty.
        """
        self.people = people
        self.table = table
        self.known = bool(students)
        """Whether the gradebook knows any student: then only they are students."""
        self.tells_new = self.known or tells_new
        everybody = [*students, *before]
        self._students = {student.id for student in everybody}
        self._by_id = unique((fold(student.id), student.id) for student in everybody)
        emails = {fold(student.email) for student in students}
        said = [*students, *(student for student in before if fold(student.email) not in emails)]
        self._by_email = unique((fold(s.email), s.id) for s in said if s.email)
        self._named_before = together((key, s.id) for s in before for key in keys(_names_of(s)))
        self._by_name = together((key, s.id) for s in students for key in keys(_names_of(s)))
        self._with_name = {student.id for student in students if _names_of(student)}
        self._by_digits = together((s.id.lstrip("0"), s.id) for s in everybody if s.id.isdecimal())
        self._row_by_number = {person.number: person for person in people if person.number}
        self._rows_by_name = together((key, person) for person in people for key in keys(person.names))
        self._rows_by_own = together((fold(own), p) for p in people for own in (*p.ids, p.email) if own)

    def match(self, person: Person) -> Match:
        """Return the student whom this person is, and how sure that is.

        By id and by whole address; and, as many gradebooks hold neither names nor addresses, by the part of an address
        before the @. That is a guess: students choose some of their addresses. It counts only if nobody else can be
        meant. Nobody of the roster is a student whom somebody else of it is as exactly, nor one whom only a part of
        the row says: a spreadsheet that was sorted by one column, or that drops zeros, makes such rows.
        """
        if why := self._at_odds(person) or self._zeros(person):
            return Match(doubt=why)
        if found := self._exact(person):
            if person.row >= 0 and any(not _same(person, other) for other in self._exactly.get(found, ())):
                return Match(doubt=_ELSE.format(found))
            return Match(found, exact=True)
        for email in person.addresses:
            if student := self._begun(email):
                why = self._why_not(email, student)
                doubt = f"only the part of {email} before the @ says that this is {student}: {why}"
                return Match(doubt=doubt) if why else Match(student)
        return Match()

    def match_row(self, person: Person) -> Match:
        """Return the student whom this row is; by name if the row has neither ids nor an address, as in `collect`."""
        match = self.match(person)
        if match.student or match.doubt or person.ids or person.email:
            return match
        named = [self.called(name, person) for name in person.names]
        return next((found for found in named if found.student or found.doubt), match)

    def student(self, person: Person) -> str:
        """Return the gradebook's id of this person; empty if there is none, or if that cannot be told."""
        return self.match(person).student

    def _exact(self, person: Person) -> str:
        """Return the student with an id or a whole address of this person; empty if there is none."""
        found = (self._with_id(own) for own in (*person.ids, *person.addresses))
        addresses = (self._by_email.get(fold(own), "") for own in person.addresses)
        return next(filter(None, (*found, *addresses)), "")

    def _with_id(self, own: str) -> str:
        return own if own in self._students else self._by_id.get(fold(own), "")

    # -------------------------------------------------------------------------------------- rows that cannot be right
    def _at_odds(self, person: Person) -> str:
        """Say which parts of a row are two students'; empty if none are."""
        owns = dict.fromkeys((*person.ids, *person.addresses))
        found = [(own, s) for own in owns if (s := self._with_id(own) or self._by_email.get(fold(own), ""))]
        if not found:
            return ""
        own, student = found[0]
        names = [(name, s) for name in person.names if (s := self.named(name)) and not self._namesake(student, s, name)]
        other = next(((value, s) for value, s in [*found, *names] if s != student), None)
        return _AT_ODDS.format(own, student, *other) if other else ""

    def _namesake(self, student: str, named: str, name: str) -> bool:
        """Whether a student whose name the gradebook does not know may have the name of this other one."""
        rows = {row for key in keys((name,)) for row in self._rows_by_name.get(key, ())}
        return student not in self._with_name and any(row in rows for row in self._exactly.get(named, ()))

    def _zeros(self, person: Person) -> str:
        """Say which student an id may stand for that has lost its leading zeros, or got some; empty if none."""
        student = self._exact(person)
        for own in person.ids if person.row >= 0 else ():
            others = [s for s in self._by_digits.get(own.lstrip("0"), ()) if s not in {student, own}]
            lost = next((s for s in others if fold(s) not in self._rows_by_own), "")
            if lost and student in {"", own} and not self._confirmed(person, own):
                return _ZEROS.format(own, lost)
        return ""

    def _confirmed(self, person: Person, own: str) -> bool:
        """Whether an address or a name of a row says, too, that it is the student with this id."""
        said = {self._by_email.get(fold(address), user(address)) for address in person.addresses}
        return own in said | {self.named(name) for name in person.names}

    # ------------------------------------------------------------------------------------------------------- guesses
    def _begun(self, email: str) -> str:
        """Return the student with whose id an address of the roster begins; empty if there is none."""
        return self._by_id.get(user(email), "") if fold(email) in self._addresses.get(user(email), ()) else ""

    def _why_not(self, email: str, student: str) -> str:
        """Say why it may be chance that an address begins with a student's id; empty if it is none."""
        if rival := self._rival(email, student):
            return rival
        usual = self._usual_domains
        return "" if usual is None or domain(email) in usual else "others' addresses do not say who they are"

    def _rival(self, email: str, student: str) -> str:
        if student in self._exactly:
            return "somebody else in the roster has this id or address"
        if len(self._addresses[user(email)]) > 1:
            return "another address begins so, too"
        named = self._named.get(student, ())
        others = any(fold(email) not in map(fold, person.addresses) for person in named)
        return "somebody else has this student's name" if others else ""

    @cached_property
    def _usual_domains(self) -> Collection[str] | None:
        """The domain in which addresses begin with students' ids; None if all do.

        Where both people and students are left over, more must be found than are left over of the one or the other.
        """
        left = [person for person in self.people if not self._exact(person)]
        begun = [{s for e in person.addresses if (s := self._begun(e)) and not self._rival(e, s)} for person in left]
        found = set().union(*begun)
        strangers, missing = begun.count(set()), len(self._students - self._exactly.keys() - found)
        if not strangers and not missing:
            return None
        domains = [{domain(email) for email in person.addresses} for person in self.people if person.addresses]
        ((most, count),) = Counter(d for own in domains for d in own).most_common(1) or [("", 0)]
        return {most} if 2 * count > len(domains) and len(found) > min(strangers, missing) else ()

    @cached_property
    def _addresses(self) -> dict[str, list[str]]:
        """The whole addresses of the roster, by what stands before the @."""
        return together((user(email), fold(email)) for person in self.people for email in person.addresses)

    @cached_property
    def _exactly(self) -> dict[str, list[Person]]:
        """The people of the roster with a student's id or whole address, by student."""
        return together((student, person) for person in self.people if (student := self._exact(person)))

    @cached_property
    def _named(self) -> dict[str, list[Person]]:
        """The people of the roster with a student's name, by student."""
        return together((s, p) for p in self.people for name in p.names if (s := self.named(name)))

    # ---------------------------------------------------------------------------------------------------- the two lists
    def named(self, name: str) -> str:
        """Return the id of the one student of this name, in either order; empty if there is none, or more than one."""
        found = self._all_named(name)
        return found[0] if len(found) == 1 else ""

    def namesakes(self, names: Iterable[str]) -> list[str]:
        """Return the ids of all students who have one of these names; if none has, of those collected before."""
        names = list(names)
        found = dict.fromkeys(student for name in names for student in self._all_named(name))
        return list(found or dict.fromkeys(s for key in keys(names) for s in self._named_before.get(key, ())))

    def has(self, student: str) -> bool:
        """Whether the gradebook, or somebody who was collected before, has this id."""
        return student in self._students

    def _all_named(self, name: str) -> list[str]:
        return list(dict.fromkeys(student for key in keys((name,)) for student in self._by_name.get(key, ())))

    def called(self, name: str, row: Person | None) -> Match:
        """Return the one student of this name, unless others of the roster than this row may be meant by it."""
        if row and (why := self._at_odds(row)):
            return Match(doubt=why)
        if len(namesakes := self._all_named(name)) > 1:
            return Match(doubt=_NAMESAKES.format(", ".join(namesakes)))
        found = self.named(name)
        others = [person for key in keys((name,)) for person in self._rows_by_name.get(key, ())]
        if row:
            others += self._exactly.get(found, ())
        if found and any(not _same(row or others[0], other) for other in others):
            return Match(doubt="somebody else in the roster may be meant by this name")
        return Match(found)

    def knows(self, own: str) -> bool:
        """Whether the gradebook or the roster has a person of this id or address."""
        return bool(self._exact(Person((own,)))) or fold(own) in self._rows_by_own

    def by_number(self, number: str) -> Person | None:
        """Return the person whom the system calls by this number."""
        return self._row_by_number.get(number)

    def by_own(self, person: Person) -> Person | None:
        """Return the one person of the roster with an id or a whole address of this one."""
        rows = (self._rows_by_own.get(fold(own), ()) for own in (*person.ids, person.email) if own)
        return next((found[0] for found in rows if found and all(_same(found[0], other) for other in found)), None)

    def by_name(self, name: str) -> Person | None:
        """Return the one person of this name, however it is written and in either order."""
        rows = (self._rows_by_name.get(key, ()) for key in keys((name,)))
        return next((found[0] for found in rows if len(found) == 1), None)


def _names_of(student: Student) -> tuple[str, ...]:
    if not (student.last_name and student.first_name):
        return tuple(filter(None, (student.last_name, student.first_name)))
    return f"{student.first_name} {student.last_name}", f"{student.last_name}, {student.first_name}"


def _same(one: Person, other: Person) -> bool:
    """Whether two rows are about one person: some systems write one for each section."""
    names = {bool(person.names) and keys(person.names)[:1] == keys(one.names)[:1] for person in (one, other)}
    return (one.ids, one.number, fold(one.email)) == (other.ids, other.number, fold(other.email)) and len(names) == 1
