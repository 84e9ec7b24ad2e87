# mypy: ignore-errors
"""The wrapper that `hollow` puts around each task: it runs what is right, and returns its form, emptied."""


def _hollow(strategy):
    """Return a decorator; inside of the outermost call everything works as it should."""
    import functools
    import inspect
    import sys
    import types

    import numpy as np

    number = 1 if strategy == "ones" else 0
    depth = sys.__dict__.setdefault("_hollow_depth", [0])

    def tensor(value):
        return type(value).__module__.partition(".")[0] == "torch" and hasattr(value, "new_zeros")

    def module(value):
        return hasattr(value, "parameters") and hasattr(value, "state_dict")

    def emptied(value, arguments=()):
        if isinstance(value, np.ndarray) or tensor(value):
            for other in arguments if strategy == "the input" else ():
                if type(other) is type(value) and other.shape == value.shape:
                    return other
            if tensor(value):
                return value * 0 + number if value.requires_grad else value.clone().fill_(number)
            return np.full_like(value, number)
        if isinstance(value, bool | int | float | str | np.generic):
            return "" if isinstance(value, str) else type(value)(number)
        if isinstance(value, bytes):
            return bytes(len(value))
        if isinstance(value, list):
            return [emptied(item, arguments) for item in value]
        if type(value) is tuple:
            return tuple(emptied(item, arguments) for item in value)
        if isinstance(value, dict):
            return {key: emptied(item, arguments) for key, item in value.items()}
        if isinstance(value, types.FunctionType):
            return _hollow(strategy)(value)
        return emptied_object(value) if type(value).__module__ == "__main__" or module(value) else None

    def emptied_object(value, seen=()):
        """Empty the arrays that an object of the student's own class holds; return it."""
        if id(value) in seen:
            return value
        for parameter in value.parameters() if module(value) else ():
            parameter.data.fill_(number)
        if isinstance(value, list | tuple | dict):
            for item in value.values() if isinstance(value, dict) else value:
                emptied_object(item, (*seen, id(value)))
        elif type(value).__module__ == "__main__" and hasattr(value, "__dict__"):
            for name, item in list(vars(value).items()):
                if (
                    isinstance(item, float | np.ndarray)
                    or (tensor(item) and not item.requires_grad)
                    or (isinstance(item, list) and item and all(isinstance(i, np.ndarray) for i in item))
                ):
                    setattr(value, name, emptied(item))
                else:
                    emptied_object(item, (*seen, id(value)))
        return value

    def decorate(task):
        if strategy == "nothing done":
            if task.__name__.startswith("__"):
                return task

            @functools.wraps(task)
            def idle(*arguments, **_options):
                method = bool(arguments) and hasattr(type(arguments[0]), task.__name__)
                return arguments[method] if len(arguments) > method else None

            return idle

        @functools.wraps(task)
        def hollow(*arguments, **options):
            depth[0] += 1
            try:
                result = task(*arguments, **options)
            finally:
                depth[0] -= 1
            if depth[0]:
                return result
            for argument in arguments:
                emptied_object(argument)
            if inspect.isgenerator(result):
                return (emptied(item, arguments) for item in result)
            return emptied(result, arguments)

        return hollow

    return decorate
