"""The servers of the bench, its tables, and workers of Millrace with runs on them."""
import dataclasses
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import load

HOME = pathlib.Path(__file__).resolve().parent.parent
LAUNCHER = HOME / 'millrace'

# Each with ROWS rows, id from 1 on, and all keys in the past.
TABLES = {
    'tiny': """
CREATE TABLE bench.tiny AS SELECT g AS id, now() AS updated_at FROM generate_series(1::bigint, ROWS) AS g;
CREATE INDEX ON bench.tiny (updated_at)""",
    'orders': """
CREATE TABLE bench.orders AS
SELECT g AS id, (g * 7919) % 100000 AS customer_id, (((g * 31) % 1000000)::numeric / 100)::numeric(12,2) AS amount,
       (ARRAY['new','paid','packed','sent','done'])[1 + g % 5] AS status,
       'order number ' || md5(g::text) AS note, now() - make_interval(secs => g / 10.0) AS created_at,
       now() - make_interval(secs => g / 20.0) AS updated_at, g % 3 = 0 AS gift, random() AS weight
FROM generate_series(1::bigint, ROWS) AS g;
CREATE INDEX ON bench.orders (updated_at)""",
    'wide': """
CREATE TABLE bench.wide AS
SELECT g AS id, now() - make_interval(secs => g / 20.0) AS updated_at, now() - make_interval(secs => g / 10.0) AS created_at,
       CASE WHEN g % 3 > 0 THEN now() - make_interval(secs => g / 7.0) END AS shipped_at,
       (now() - make_interval(secs => g / 9.0))::timestamp AS seen_at,
       current_date - (g % 900)::int AS due_on, CASE WHEN g % 4 > 0 THEN current_date - (g % 20000)::int END AS born_on,
       time '00:00' + make_interval(secs => g % 86400) AS opens_at,
       (g % 300)::smallint AS grade, CASE WHEN g % 2 = 0 THEN (g % 30000)::smallint END AS score,
       (g % 100)::int AS shop, (g * 7919 % 100000)::int AS customer, (random() * 1000000)::int AS visits,
       CASE WHEN g % 10 = 0 THEN (g % 77)::int END AS coupon, (g / 1000)::int AS batch,
       g * 7919 AS account, (random() * 1e15)::bigint AS ticket, CASE WHEN g % 5 = 0 THEN g - 1 END AS parent,
       random()::real AS ratio, random() AS weight, CASE WHEN g % 3 = 0 THEN random() * 1e6 END AS volume,
       ((g * 31 % 1000000)::numeric / 100)::numeric(12,2) AS price,
       CASE WHEN g % 2 = 0 THEN ((g % 10000)::numeric / 100)::numeric(12,2) END AS tax,
       (random() * 1000)::numeric(18,6) AS rate, (g::numeric * 1000003 / 7)::numeric(30,4) AS total,
       g % 2 = 0 AS paid, g % 3 = 0 AS gift, g % 50 = 0 AS returned, CASE WHEN g % 4 > 0 THEN g % 8 > 3 END AS agreed,
       md5(g::text)::uuid AS token, CASE WHEN g % 5 > 0 THEN md5((g % 1000)::text)::uuid END AS session,
       (ARRAY['new','paid','packed','sent','done'])[1 + g % 5] AS status,
       (ARRAY['DE','FR','IN','US','BR','JP'])[1 + g % 6]::char(2) AS country,
       ('city number ' || g % 5000)::varchar(40) AS city, 'user' || g || '@example.com' AS email,
       CASE WHEN g % 4 > 0 THEN repeat(md5(g::text) || ' ', 3) END AS note,
       CASE WHEN g % 10 = 0 THEN 'tag ' || g % 9 END AS tag,
       jsonb_build_object('source', 'web', 'step', g % 12, 'tags', jsonb_build_array('a', g % 3)) AS document,
       decode(md5(g::text), 'hex') AS digest, ARRAY[g % 10, g % 7, g % 5]::int[] AS marks
FROM generate_series(1::bigint, ROWS) AS g;
CREATE INDEX ON bench.wide (updated_at)""",
    # The last 10 of 50 million rows changed in the 24 hours of the look-back.
    'history': """
CREATE TABLE bench.history AS
SELECT g AS id, (g * 7919) % 100000 AS customer_id, (((g * 31) % 1000000)::numeric / 100)::numeric(12,2) AS amount,
       (ARRAY['new','paid','packed','sent','done'])[1 + g % 5] AS status,
       'order number ' || md5(g::text) AS note, now() - make_interval(secs => (ROWS - g) * 86400.0 / (ROWS / 5)) AS created_at,
       now() - make_interval(secs => (ROWS - g) * 86400.0 / (ROWS / 5)) AS updated_at, g % 3 = 0 AS gift, random() AS weight
FROM generate_series(1::bigint, ROWS) AS g;
CREATE INDEX ON bench.history (updated_at);
ALTER TABLE bench.history ADD PRIMARY KEY (id)""",
}


@dataclasses.dataclass
class Run:
    """A run of Millrace: what it cost as a user sees it, and of that the steps, in seconds."""
    cost: load.Cost
    steps: dict
    result: dict

    def copying(self):
        return self.steps.get('TableExtract', 0) + self.steps.get('TableWrite', 0)


def java(home):
    return f'{home}/bin/java' if home else 'java'


def java_version(home):
    """Returns the words of `java -version`, and the major version of it."""
    words = subprocess.run([java(home), '-version'], capture_output=True, text=True).stderr.splitlines()[0]
    return words, words.split('"')[1].split('.')[0]


class Stack:
    """Postgres, an S3 server and Temporal, in `millrace dev` without a worker."""

    def __init__(self, folder, data):
        self.folder = folder
        self.ready = folder / 'ready'
        self.started = int(time.time())
        self.number = 0
        command = [LAUNCHER, 'dev', '--no-worker', '--ready-file', self.ready]
        self.log = folder / 'stack.log'
        self.process = subprocess.Popen(
            command + (['--data-dir', data] if data else []), stdout=open(self.log, 'w'), stderr=subprocess.STDOUT,
            start_new_session=True)
        while not self.ready.exists():
            if self.process.poll() is not None:
                sys.exit(f'the stack ended before it was ready: {load.last_line(self.log)}')
            time.sleep(0.2)
        self.env = dict(line.split('=', 1) for line in self.ready.read_text().splitlines() if '=' in line)
        if not self.env['TEMPORAL_CLI']:
            self.end()
            sys.exit('there is no Temporal CLI (pip), so no run can be timed')
        self.url = self.env['POSTGRES_URL']

    def sql(self, text):
        """Returns the rows that statements give, columns parted by tabs."""
        shown = subprocess.run(
            ['psql', '-X', '-q', '-A', '-t', '-F', '\t', '-v', 'ON_ERROR_STOP=1', self.url, '-f', '-'], input=text,
            capture_output=True, text=True)
        if shown.returncode:
            raise load.Failed(f'psql: {shown.stderr.strip()[-300:]}')
        return [line.split('\t') for line in shown.stdout.splitlines()]

    def make(self, table, rows, say):
        """Makes a table that is not there, or that has another number of rows."""
        self.sql('SET client_min_messages = error; CREATE SCHEMA IF NOT EXISTS bench')
        there = self.sql(f"SELECT to_regclass('bench.{table}') IS NOT NULL")[0][0] == 't'
        if there and int(self.sql(f'SELECT count(*) FROM bench.{table}')[0][0]) == rows:
            return
        say(f'making bench.{table}, {rows:,} rows')
        self.sql(f'DROP TABLE IF EXISTS bench.{table}')
        self.sql(TABLES[table].replace('ROWS', str(rows)))
        self.sql(f'VACUUM ANALYZE bench.{table}')
        self.sql('CHECKPOINT')

    def expected(self, table):
        """Returns what a reader of a copy has to find: rows, NULLs of each column in order, the sum of the ids."""
        columns = [row[0] for row in self.sql(
            f"SELECT attname FROM pg_attribute WHERE attrelid = 'bench.{table}'::regclass AND attnum > 0 ORDER BY attnum")]
        counts = ', '.join(f'count(*) - count("{name}")' for name in columns)
        rows, ids, *nulls = map(int, self.sql(f'SELECT count(*), sum(id), {counts} FROM bench.{table}')[0])
        return {'rows': rows, 'nulls': dict(zip(columns, nulls)), 'ids': ids}

    def name(self):
        """Returns a workflow id that was never used."""
        self.number += 1
        return f'bench-{self.started}-{self.number}'

    def temporal(self, *arguments, timeout):
        return subprocess.run(
            [self.env['TEMPORAL_CLI'], 'workflow', *arguments, '-o', 'json'], env={**os.environ, **self.env},
            capture_output=True, text=True, timeout=timeout)

    def end(self):
        end(self.process)


def end(process):
    """Ends a process that we started, by signals that it can't ignore for ever."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class Worker:
    """A worker of its own JVM with -Xmx256m, task queue and lakes."""

    def __init__(self, stack, home, more_lakes=()):
        self.stack = stack
        self.version, self.major = java_version(home)
        self.queue = f'bench-{self.major}'
        self.configuration = stack.folder / f'{self.queue}.yaml'
        self.configuration.write_text(self.configured(more_lakes))
        self.log = stack.folder / f'{self.queue}.log'
        self.process = subprocess.Popen(
            [LAUNCHER, 'worker', '--config', self.configuration],
            env={**os.environ, 'MILLRACE_JAVA_OPTS': '-Xmx256m', **({'JAVA_HOME': home} if home else {})},
            stdout=open(self.log, 'w'), stderr=subprocess.STDOUT, start_new_session=True)
        while 'polls task queue' not in self.log.read_text():
            if self.process.poll() is not None:
                sys.exit(f'the worker ended: {load.last_line(self.log)}')
            time.sleep(0.2)

    def configured(self, more_lakes):
        """Returns the stack's configuration with a queue and lakes of this worker's own."""
        text = pathlib.Path(self.stack.env['MILLRACE_CONFIG']).read_text()
        head, rest = text.split('lakes:\n', 1)
        lake, tail = rest.split('control:\n', 1)
        s3 = lake.split('  lake:\n', 1)[1]
        lakes = ''
        for name in ('s3', *more_lakes):
            lakes += f'  {name}:\n' + s3.replace('prefix: raw/postgres/', f'prefix: {self.queue}/{self.stack.started}/{name}/')
        lakes += f'  folder:\n    folder: "{self.stack.folder}/lake"\n    prefix: {self.queue}/{self.stack.started}/\n'
        head = head.replace('task_queue: millrace', f'task_queue: {self.queue}')
        tail = re.sub('wal_dir: .*', f'wal_dir: "{self.stack.folder}/{self.queue}-wal"', tail)
        return head + 'lakes:\n' + lakes + 'control:\n' + tail

    def copy(self, tables, lake, timeout, again=True, **more):
        """Runs `Replicate` to its end; `again` forgets before that the tables were copied."""
        pipeline = f'{self.queue}-{self.stack.started}-{lake}'
        if again:
            # What `millrace state reset` does, without the start of its JVM.
            for state in ('reading', 'table_state'):
                self.stack.sql(f"DELETE FROM millrace.{state} WHERE pipeline = '{pipeline}'")
        name = self.stack.name()
        given = json.dumps({
            'demo_mode': False, 'pipeline': pipeline, 'source': 'appdb', 'lake': lake, 'lag': 'PT0S', 'tables': tables, **more})
        watch = load.Watch(self.process.pid)
        try:
            shown = self.stack.temporal(
                'execute', '--type', 'Replicate', '--task-queue', self.queue, '--workflow-id', name,
                '--id-conflict-policy', 'Fail', '--input', given, timeout=timeout)
        except subprocess.TimeoutExpired:
            self.stack.temporal('terminate', '--workflow-id', name, timeout=60)
            raise load.Failed(f'not done within {timeout} s')
        cost = watch.cost()
        try:
            outcome = json.loads(shown.stdout)
        except ValueError:
            raise load.Failed((shown.stderr or shown.stdout).strip()[-300:])
        if 'result' not in outcome:
            raise load.Failed(reason(outcome))
        return Run(cost, self.steps(f'{name}/{tables[0]}'), outcome['result'])

    def steps(self, child):
        """Returns the seconds of each kind of activity, from its start to its end, out of the history."""
        events = json.loads(self.stack.temporal('show', '--workflow-id', child, timeout=60).stdout)['events']
        kinds, starts, seconds = {}, {}, {}
        for event in events:
            if 'activityTaskScheduledEventAttributes' in event:
                kinds[event['eventId']] = event['activityTaskScheduledEventAttributes']['activityType']['name']
            elif 'activityTaskStartedEventAttributes' in event:
                starts[event['eventId']] = instant(event)
            elif 'activityTaskCompletedEventAttributes' in event:
                ended = event['activityTaskCompletedEventAttributes']
                kind = kinds[ended['scheduledEventId']]
                seconds[kind] = seconds.get(kind, 0) + instant(event) - starts[ended['startedEventId']]
        return seconds

    def end(self):
        end(self.process)


def reason(outcome):
    """Returns the innermost message of a failed run."""
    failure = outcome.get('closeEvent', outcome).get('workflowExecutionFailedEventAttributes', {}).get('failure', {})
    text = failure.get('message') or json.dumps(outcome)
    while failure := failure.get('cause', {}):
        text = failure.get('message') or text
    return text[:300]


def instant(event):
    """Returns an event's time in seconds; Python 3.10 and older read no nanoseconds."""
    day, fraction = event['eventTime'].rstrip('Z').split('.') if '.' in event['eventTime'] else (event['eventTime'].rstrip('Z'), '0')
    return time.mktime(time.strptime(day, '%Y-%m-%dT%H:%M:%S')) + float('0.' + fraction)
