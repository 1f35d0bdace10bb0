"""Training: from a run file to a model.

run.py         everything that affects the result of a run, as data
feed/          supply.py, streamed.py: sources of lines; mixture.py: their order; batch.py, stream.py: batches
start.py       the first weights; tuning.py: which of them are trained
objective.py   the losses of a batch; teacher.py adds the probabilities of another model
optimize.py    the step: Muon or AdamW, its rate, and the moving average of the weights
loop.py        train(run), top to bottom; metrics_log.py reports it
validation.py  the averaged weights read validation lines as users would; the best are kept
snapshot.py    all that is needed to resume, bit for bit
devices.py     one device, or several equal processes
rescorer.py    the same for the language model of whole texts
finetuning/    for small data sets: plan, split, run, and measured effect
layout/        the same for the line detector; its sources are marked pages
"""
