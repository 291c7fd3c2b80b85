#!/usr/bin/env python3
"""Writes the Unicode tables of PolyStoreSearch from the files of the Unicode Character Database.

usage: scripts/unicode-tables.py [--check] [FOLDER]
       FOLDER has the files, by default /usr/share/unicode (package unicode-data of Debian). With --check the tables are compared, and a difference is an error.

The tables are one Swift file of static strings. A string is a list of numbers: each character of `DIGITS` has 5 bits of a number, the lowest first, and a
sixth bit that says that more follow. docs/search-tokens.md explains the classes and the folding.
"""
import pathlib
import re
import sys
import unicodedata

CHECKS = "--check" in sys.argv
FOLDER = pathlib.Path(next((argument for argument in sys.argv[1:] if argument != "--check"), "/usr/share/unicode"))
OUTPUT = pathlib.Path(__file__).resolve().parent.parent / "Sources/PolyStoreSearch/Tokens/UnicodeData.swift"
DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
LAST = 0x10FFFF
# The order of ScalarClass.
OTHER, LETTER, DIGIT, IDEOGRAPH, MARK, SPACING_MARK, IGNORABLE, EMOJI, FLAG = range(9)
# The scripts that [d] folds end here: Latin, Greek and Cyrillic.
FOLDED_SCRIPTS_END = 0x510


def properties(name):
    """Returns the sets of characters of the values of a property file."""
    found = {}
    for line in (FOLDER / name).read_text().splitlines():
        fields = [part.strip() for part in line.split("#")[0].split(";")]
        if len(fields) < 2:
            continue
        ends = fields[0].split("..")
        found.setdefault(fields[1], set()).update(range(int(ends[0], 16), int(ends[-1], 16) + 1))
    return found


def read_characters():
    """Returns the category, the combining class, the canonical decomposition and the small letter of the characters."""
    categories, classes, decompositions, lower, first = {}, {}, {}, {}, 0
    for line in (FOLDER / "UnicodeData.txt").read_text().splitlines():
        fields = line.split(";")
        code = int(fields[0], 16)
        if fields[1].endswith("First>"):
            first = code
            continue
        for each in range(first if fields[1].endswith("Last>") else code, code + 1):
            categories[each] = fields[2]
        if int(fields[3]):
            classes[code] = int(fields[3])
        if fields[5] and "<" not in fields[5]:
            decompositions[code] = [int(part, 16) for part in fields[5].split()]
        if fields[13]:
            lower[code] = int(fields[13], 16)
    return categories, classes, decompositions, lower


CATEGORIES, COMBINING, DECOMPOSITIONS, LOWER = read_characters()
SCRIPTS, DERIVED = properties("Scripts.txt"), properties("DerivedCoreProperties.txt")
WORD_BREAK, LINE_BREAK = properties("auxiliary/WordBreakProperty.txt"), properties("extracted/DerivedLineBreak.txt")
PICTOGRAPHS = properties("emoji/emoji-data.txt")["Extended_Pictographic"]
EXCLUSIONS = properties("DerivedNormalizationProps.txt")["Full_Composition_Exclusion"]
WORD_LETTERS = WORD_BREAK["ALetter"] | WORD_BREAK["Hebrew_Letter"]
WITHOUT_SPACES = set().union(
    *(SCRIPTS[name] for name in ("Han", "Hiragana", "Katakana", "Tangut", "Nushu", "Khitan_Small_Script")), LINE_BREAK["SA"], WORD_BREAK["Katakana"])
VERSION = re.search(r"Scripts-([\d.]+)\.txt", (FOLDER / "Scripts.txt").read_text())[1]


def class_of(code):
    category = CATEGORIES.get(code, "Cn")
    if code in WORD_BREAK["Regional_Indicator"]:
        return FLAG
    # The zero width space marks the end of a word; the other invisible characters are inside words.
    if code != 0x200B and (code in WORD_BREAK["Format"] or code in DERIVED["Default_Ignorable_Code_Point"]):
        return IGNORABLE
    if code in WORD_BREAK["Extend"]:
        # A sign that decomposes into marks is folded as they are.
        extends = all(part in DERIVED["Grapheme_Extend"] for part in decomposed(code))
        return SPACING_MARK if not extends and category == "Mc" else MARK
    if code in WITHOUT_SPACES and (category[0] == "L" or category == "Nl" or 0x2E80 <= code < 0x2FE0 and category == "So"):
        return IDEOGRAPH
    if category[0] == "L" or code in DERIVED["Alphabetic"] or code in WORD_LETTERS and category[0] not in "PC":
        return LETTER
    if category[0] == "N" or code in WORD_BREAK["Numeric"] and category[0] not in "PC":
        return DIGIT
    # Below are signs of texts, such as the copyright sign, and arrows.
    if code in PICTOGRAPHS and code >= 0x2300 and category[0] != "P":
        return EMOJI
    return OTHER


def decomposed(code):
    parts = DECOMPOSITIONS.get(code)
    return [each for part in parts for each in decomposed(part)] if parts else [code]


def read_case_folding():
    folds = {}
    for line in (FOLDER / "CaseFolding.txt").read_text().splitlines():
        fields = [part.strip() for part in line.split("#")[0].split(";")]
        if len(fields) > 2 and fields[1] in "CF":
            folds[int(fields[0], 16)] = [int(part, 16) for part in fields[2].split()]
    # As Foundation: Cherokee is folded to small letters, and some old forms of Cyrillic letters are kept.
    for code in [*range(0x13A0, 0x1400), *range(0xAB70, 0xABC0), *range(0x1C80, 0x1C89)]:
        folds[code] = [LOWER.get(code, code)] if code < 0x1C80 else [code]
    return folds


CASE_FOLDING = read_case_folding()


def folded(code):
    """Returns the characters to which [cd] folds a character, in normalization form C."""
    parts = decomposed(code)
    if parts[0] < FOLDED_SCRIPTS_END and parts[0] not in DERIVED["Grapheme_Extend"]:
        parts = [part for part in parts if part not in DERIVED["Grapheme_Extend"]]
    else:
        parts = [code]
    text = "".join(chr(each) for part in parts for each in CASE_FOLDING.get(part, [part]))
    return [ord(each) for each in unicodedata.normalize("NFC", text)]


def encoded(numbers):
    text = ""
    for number in numbers:
        while number > 31:
            text += DIGITS[number & 31 | 32]
            number >>= 5
        text += DIGITS[number]
    return text


def zigzag(number):
    return number * 2 if number >= 0 else -number * 2 - 1


def class_runs():
    """Lengths of runs of one class, and the classes."""
    numbers, start, previous = [], 0, class_of(0)
    for code in range(1, LAST + 2):
        current = class_of(code) if code <= LAST else -1
        if current != previous:
            numbers += [code - start, previous]
            start, previous = code, current
    return numbers


def fold_runs(classes):
    """Runs of characters that are folded by one difference: the distance from the run before, the step, the length, the difference. And the longer folds."""
    single, longer = [], []
    for code in range(0x80, LAST + 1):
        if classes[code] in (OTHER, IGNORABLE, FLAG) or code < FOLDED_SCRIPTS_END and classes[code] == MARK:
            continue
        result = folded(code)
        if len(result) > 1:
            longer.append([code, len(result), *result])
        elif result != [code]:
            single.append((code, result[0] - code))
    runs, index = [], 0
    while index < len(single):
        code, difference = single[index]
        best, step = 1, 1
        for candidate in (1, 2):
            length = 1
            while index + length < len(single) and single[index + length] == (code + length * candidate, difference):
                length += 1
            if length > best:
                best, step = length, candidate
        runs.append((code, step, best, difference))
        index += best
    numbers, end = [], 0
    for code, step, length, difference in runs:
        numbers += [code - end, (length - 1) * 2 + step - 1, zigzag(difference)]
        end = code + (length - 1) * step
    return numbers, [number for fold in longer for number in fold]


def combining_runs():
    """Runs of characters of one combining class other than 0, from the first one that is kept."""
    numbers, end = [], 0
    codes = sorted(code for code in COMBINING if code >= FOLDED_SCRIPTS_END)
    index = 0
    while index < len(codes):
        length = 1
        while index + length < len(codes) and codes[index + length] == codes[index] + length and COMBINING[codes[index + length]] == COMBINING[codes[index]]:
            length += 1
        numbers += [codes[index] - end, length, COMBINING[codes[index]]]
        end = codes[index] + length
        index += length
    return numbers


def compositions():
    """The pairs of characters that are composed, and the result."""
    numbers = []
    for code, parts in sorted(DECOMPOSITIONS.items(), key=lambda item: item[1]):
        if len(parts) == 2 and parts[0] >= FOLDED_SCRIPTS_END and code not in EXCLUSIONS:
            numbers += [*parts, code]
    return numbers


def main():
    classes = [class_of(code) for code in range(LAST + 1)]
    single, longer = fold_runs(classes)
    tables = [
        ("classes", "The lengths of runs of characters of one class, and the classes.", class_runs()),
        ("folds", "Runs of characters that differ from their folded form by one number.", single),
        ("longFolds", "Characters whose folded form is several characters: the character, their number, and they.", longer),
        ("combiningClasses", "Runs of characters of one combining class.", combining_runs()),
        ("compositions", "Pairs of characters and the character that they compose.", compositions()),
    ]
    lines = [
        f"// Generated by scripts/unicode-tables.py from version {VERSION} of the Unicode Character Database. Do not edit.",
        "// swift-format-ignore-file", "", "/// The tables of Unicode, as lists of numbers.", "enum UnicodeData {",
        "    /// The version of Unicode.", f'    static let version = "{VERSION}"']
    for name, comment, numbers in tables:
        text = encoded(numbers)
        lines += [f"    /// {comment}", f'    static let {name}: StaticString = """']
        lines += [f"        {text[start:start + 120]}\\" for start in range(0, len(text), 120)]
        lines[-1] = lines[-1][:-1]
        lines.append('        """')
    text = "\n".join([*lines, "}", ""])
    if not CHECKS:
        OUTPUT.write_text(text)
    elif OUTPUT.read_text() != text:
        sys.exit(f"{OUTPUT} differs from the tables of Unicode {VERSION}. Write it: scripts/unicode-tables.py")


main()
