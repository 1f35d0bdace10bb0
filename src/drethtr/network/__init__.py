"""The network in torch. Suggested reading order: decay, retention, attention, mixer, ctc, network, backend."""

from drethtr.base.processors import let_threads_wait

let_threads_wait()
