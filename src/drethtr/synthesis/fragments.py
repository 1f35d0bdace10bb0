"""Typical content of letters and registers besides prose: dates, sums of money, names, abbreviations, numbers.

These are short invented pieces in English, French and German, since novels rarely contain them.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

Item = TypeVar("Item")


def words(line: str) -> tuple[str, ...]:
    """The words of a line."""
    return tuple(line.split())


MONTHS = {
    "en": words(
        "January February March April May June July August September October November December "
        "Jan. Febr. Mar. Apr. Aug. Sept. Oct. Nov. Dec."
    ),
    "fr": words(
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre "
        "janv. fév. 7bre 8bre 9bre Xbre vendémiaire brumaire frimaire nivôse"
    ),
    "de": words(
        "Januar Februar März April Mai Juni Juli August September Oktober November Dezember "
        "Jänner Jan. Febr. Aug. Sept. Octbr. Novbr. Decbr. 7ber 9ber"
    ),
}
GIVEN = {
    "en": words("John Mary William Elizabeth Thomas Anne George Jane Henry Sarah Joseph Charles Margaret Alice"),
    "fr": words("Jean Marie Louis Jeanne Pierre Françoise Jacques Anne Étienne Hélène François Geneviève André"),
    "de": words("Johann Maria Heinrich Anna Wilhelm Käthe Friedrich Elisabeth Jürgen Ursula Jakob Barbara"),
}
FAMILY = {
    "en": words("Smith Brown Walker Fitzgerald Wright Thompson Hughes O'Neill Kingsley Young Quincy Baxter"),
    "fr": words("Dupont Lefèvre Durand Moreau Rousseau Bonnet Gauthier d'Artois Chevalier Béranger Maçon Quérard"),
    "de": words("Müller Schäfer Weiß Köhler Huber Zimmermann Vogel Jäger Krüger Schultheß Pfeiffer Meyer"),
}
PLACES = {
    "en": words("London Edinburgh York Dublin Bristol Oxford Glasgow Bath Norwich Boston"),
    "fr": words("Paris Lyon Orléans Nîmes Besançon Genève Quimper Béziers Verdun Bruxelles"),
    "de": words("Berlin Wien Zürich Köln München Bremen Göttingen Innsbruck Würzburg Leipzig"),
}
TITLES = {
    "en": words("Mr. Mrs. Miss Dr. Sir Lady Rev. Capt. Prof."),
    "fr": words("M. Mme Mlle Mr Me Dr Abbé veuve St"),
    "de": words("Hr. Herr Frau Frl. Dr. Prof. Herrn Junker Graf"),
}
SHORTENED = {
    "en": ("&c.", "etc.", "i.e.", "viz.", "e.g.", "P.S.", "Esq.", "No. 7", "ult.", "inst.", "vol. II", "p. 12"),
    "fr": ("etc.", "c.-à-d.", "N.B.", "S.M.", "N° 5", "n° 27", "p. 8", "fol. 3 v°", "P.-S.", "S.A.R.", "av. J.-C."),
    "de": ("u. s. w.", "d. h.", "z. B.", "etc.", "Nr. 9", "S. 34", "u. a.", "sel.", "Ew. Hochw.", "bzw.", "St. 2"),
}
LANGUAGES = tuple(MONTHS)


def fragment(language: str, rng: np.random.Generator) -> str:
    """A fragment of a few words, in the given language or, if that is unknown, in any."""
    if language not in LANGUAGES:
        language = pick(LANGUAGES, rng)
    return pick(KINDS, rng)(language, rng)


def pick(items: Sequence[Item], rng: np.random.Generator) -> Item:
    """One of the items, with equal probability."""
    return items[int(rng.integers(len(items)))]


def date(language: str, rng: np.random.Generator) -> str:
    """A date in one of its usual forms."""
    day, month = int(rng.integers(1, 32)), pick(MONTHS[language], rng)
    number, year, place = int(rng.integers(1, 13)), year_number(rng), pick(PLACES[language], rng)
    if rng.random() < 0.25:
        return pick((f"{day}/{number}/{year % 100:02}", f"{day}.{number}.{year}", f"{day}-{number}-{year}"), rng)
    forms = {
        "en": (f"{month} {ordinal(day)}, {year}", f"{day} {month} {year}", f"{place}, {month} {day}. {year}"),
        "fr": (f"{place}, le {day} {month} {year}", f"le {day} {month} {year}.", f"ce {day} {month}"),
        "de": (f"{place}, d. {day}. {month} {year}", f"den {day}ten {month} {year}", f"am {day}. {month}"),
    }
    return pick(forms[language], rng)


def sum_of_money(language: str, rng: np.random.Generator) -> str:
    """An amount of money in historical currency."""
    much, little = int(10 ** rng.uniform(0, 5)), int(rng.integers(0, 100))
    grouped = f"{much:,}"
    forms = {
        "en": (
            f"£{grouped}",
            f"£ {much}. {little % 20}. {little % 12}",
            f"${grouped}.{little:02}",
            f"{little} s. 6 d.",
        ),
        "fr": (f"{much} fr. {little} c.", f"{grouped.replace(',', '.')} F", f"{much},{little:02}", f"{much} livres"),
        "de": (f"{much} fl. {little % 60} kr.", f"{much} Mk. {little} Pf.", f"{much} Gulden", f"{much},{little:02} M"),
    }
    return pick(forms[language], rng)


def name(language: str, rng: np.random.Generator) -> str:
    """A person's name, with or without a title or an initial."""
    given, family, title = (pick(table[language], rng) for table in (GIVEN, FAMILY, TITLES))
    second = pick(GIVEN[language], rng)
    return pick(
        (f"{given} {family}", f"{title} {family}", f"{title} {given[0]}. {family}", f"{family}, {given} {second}"),
        rng,
    )


def abbreviation(language: str, rng: np.random.Generator) -> str:
    """An abbreviation."""
    return pick(SHORTENED[language], rng)


def number(language: str, rng: np.random.Generator) -> str:
    """A page, a year, an account, a share: mostly digits."""
    value, part = int(10 ** rng.uniform(0, 4.5)), int(rng.integers(1, 100))
    forms = (f"{value}", f"- {part} -", f"{year_number(rng)}", f"({part})", f"{value}.{part}", f"{part} %")
    return pick((*forms, f"{part}.", f"{value} + {part} = {value + part}", f"{part}-{part + 7}", f"[{value}]"), rng)


def year_number(rng: np.random.Generator) -> int:
    """A year in which letters were written."""
    return int(rng.integers(1650, 1970))


def ordinal(day: int) -> str:
    """1st, 2nd, 3rd, 4th …."""
    ending = "th" if day in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{day}{ending}"


KINDS: tuple[Callable[[str, np.random.Generator], str], ...] = (
    date,
    date,
    sum_of_money,
    name,
    name,
    abbreviation,
    number,
    number,
)
"""Kinds of fragments; those most frequent in old papers are listed twice."""
