"""The names that `drethtr` promises: this is the only list of them."""

from drethtr.base.errors import CheckpointError as CheckpointError
from drethtr.base.errors import ConfigError as ConfigError
from drethtr.base.errors import DataError as DataError
from drethtr.base.errors import DrethtrError as DrethtrError
from drethtr.base.errors import MissingExtraError as MissingExtraError
from drethtr.documents.page import Page as Page
from drethtr.documents.read import read_page as read_page
from drethtr.layout.rapid import RapidDetector as RapidDetector
from drethtr.pages.source import open_originals as open_originals
from drethtr.pages.transcribe import transcribe as transcribe
from drethtr.pages.transcribe import transcribe_page as transcribe_page
from drethtr.recognition.precision import Precision as Precision
from drethtr.recognition.reading import Alternative as Alternative
from drethtr.recognition.reading import Character as Character
from drethtr.recognition.reading import Evidence as Evidence
from drethtr.recognition.reading import Flag as Flag
from drethtr.recognition.reading import Reading as Reading
from drethtr.recognition.reading import Word as Word
from drethtr.recognition.recognizer import Recognizer as Recognizer
from drethtr.recognition.search.strategies import CTC as CTC
from drethtr.recognition.search.strategies import Beam as Beam
from drethtr.recognition.search.strategies import Greedy as Greedy
from drethtr.recognition.search.strategies import Joint as Joint
from drethtr.recognition.search.strategies import VerifiedDrafts as VerifiedDrafts
