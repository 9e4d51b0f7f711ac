//! Keywords and built-in names of Python, which saved tools may not have as names.

/// Whether a Python program cannot define the name: a keyword or `__debug__`.
pub(crate) fn is_keyword(name: &str) -> bool {
    is_among(KEYWORDS, name)
}

pub(crate) fn is_built_in(name: &str) -> bool {
    is_among(BUILT_IN, name)
}

fn is_among(words: &str, name: &str) -> bool {
    words.split_ascii_whitespace().any(|word| word == name)
}

const KEYWORDS: &str = "False None True __debug__ and as assert async await break class continue def del elif else except \
    finally for from global if import in is lambda nonlocal not or pass raise return try while with \
    yield";

/// `dir(builtins)` of Python 3.10 to 3.14.
const BUILT_IN: &str = "ArithmeticError AssertionError AttributeError BaseException BaseExceptionGroup BlockingIOError \
    BrokenPipeError BufferError BytesWarning ChildProcessError ConnectionAbortedError ConnectionError \
    ConnectionRefusedError ConnectionResetError DeprecationWarning EOFError Ellipsis EncodingWarning \
    EnvironmentError Exception ExceptionGroup FileExistsError FileNotFoundError FloatingPointError \
    FutureWarning GeneratorExit IOError ImportError ImportWarning IndentationError IndexError \
    InterruptedError IsADirectoryError KeyError KeyboardInterrupt LookupError MemoryError \
    ModuleNotFoundError NameError NotADirectoryError NotImplemented NotImplementedError OSError \
    OverflowError PendingDeprecationWarning PermissionError ProcessLookupError PythonFinalizationError \
    RecursionError ReferenceError ResourceWarning RuntimeError RuntimeWarning StopAsyncIteration \
    StopIteration SyntaxError SyntaxWarning SystemError SystemExit TabError TimeoutError TypeError \
    UnboundLocalError UnicodeDecodeError UnicodeEncodeError UnicodeError UnicodeTranslateError \
    UnicodeWarning UserWarning ValueError Warning ZeroDivisionError __build_class__ __doc__ __import__ \
    __loader__ __name__ __package__ __spec__ abs aiter all anext any ascii bin bool breakpoint bytearray \
    bytes callable chr classmethod compile complex copyright credits delattr dict dir divmod enumerate \
    eval exec exit filter float format frozenset getattr globals hasattr hash help hex id input int \
    isinstance issubclass iter len license list locals map max memoryview min next object oct open ord \
    pow print property quit range repr reversed round set setattr slice sorted staticmethod str sum \
    super tuple type vars zip";
