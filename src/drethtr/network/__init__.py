"""The network in torch: read decay, retention, attention, mixer, ctc, network, then backend."""

from drethtr.base.processors import let_threads_wait

let_threads_wait()
