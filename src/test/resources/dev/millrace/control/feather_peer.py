"""Does what FeatherInteropIT asks for with the Python package: one JSON object a line in, one out."""
import json
import sys
import traceback

import psycopg
from control_plane import shipper, store
from control_plane.run import ControlPlane

answers = sys.stdout
sys.stdout = sys.stderr  # The package prints its warnings.
open_runs = {}


def connect(dsn):
    return psycopg.connect(dsn, options="-c timezone=UTC")


def once(dsn, work):
    with connect(dsn) as connection:
        return work(connection)


def fill(run, events, budgets):
    for event in events:
        run.event(**event)
    for budget in budgets:
        run.budget(**budget)


def record(dsn, folder, extractor, run_id, events, budgets, finish=None, error=None):
    try:
        with ControlPlane(extractor, dsn, folder).run("nightly", run_id=run_id) as run:
            fill(run, events, budgets)
            if finish:
                run.finish(**finish)
            if error:
                raise ValueError(error)
    except ValueError:
        if not error:
            raise
    return None


def begin(dsn, folder, extractor, run_id, ttl):
    plane = ControlPlane(extractor, dsn, folder, lease_ttl_s=ttl, renew_interval_s=3600)
    context = plane.run("nightly", run_id=run_id)
    try:
        run = context.__enter__()
    except Exception as refusal:
        return type(refusal).__name__ + ": " + str(refusal)
    open_runs[run_id] = (context, run)
    return "begun"


def event(run_id, **fields):
    open_runs[run_id][1].event(**fields)


def end(run_id):
    open_runs.pop(run_id)[0].__exit__(None, None, None)


COMMANDS = {
    "ensure": lambda dsn: once(dsn, store.ensure_schema),
    "state": lambda dsn: once(dsn, store._schema_state),
    "ship": lambda dsn, path: once(dsn, lambda c: shipper.ship(c, path)),
    "acquire": lambda dsn, **lease: once(dsn, lambda c: store.lease_acquire(c, **lease)),
    "renew": lambda dsn, **lease: once(dsn, lambda c: store.lease_renew(c, **lease)),
    "record": record,
    "begin": begin,
    "event": event,
    "end": end,
}

for line in sys.stdin:
    arguments = json.loads(line)
    try:
        answer = {"answer": COMMANDS[arguments.pop("command")](**arguments)}
    except Exception:
        answer = {"error": traceback.format_exc()}
    answers.write(json.dumps(answer) + "\n")
    answers.flush()
