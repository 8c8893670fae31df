import { declareCommand, type OptionDeclarations } from './command-declaration.js'

/** The options of every command that uses a store. */
export const storeOptions = {
  store: {
    type: 'text',
    value: 'URL',
    short: 's',
    completes: 'store',
    description: 'URL of the store (local:); also in LEASEHOLD_STORE',
  },
  config: {
    type: 'text',
    value: 'FILE',
    short: 'c',
    completes: 'file',
    description: 'A HOCON file that has the store',
  },
  path: { type: 'text', value: 'PATH', description: 'The block of the file (leasehold.lease)' },
  timeout: {
    lease: 'operationTimeout',
    type: 'duration',
    description: 'The time limit of each call to the store (5s)',
  },
} as const satisfies OptionDeclarations

/** The options of commands that ask a store, and print the answer: `leasehold --help` explains these for all of them. */
export const answerOptions = {
  ...storeOptions,
  output: { type: 'choice', short: 'o', words: ['table', 'json'], description: 'The form of the result' },
} as const satisfies OptionDeclarations

/** The options of commands that set no time limit for the calls to a store. */
const { timeout: _, ...unlimitedOptions } = answerOptions

const leaseName = { name: 'NAME', description: 'The name of the lease' } as const

export const run = declareCommand({
  name: 'run',
  summary: 'Run a command under a lease',
  details:
    'Waits for the lease, runs the command, and releases the lease when nothing of the command is alive. If the lease is ' +
    'lost, the command and all its processes are ended before another owner can hold it. Returns the exit code of the ' +
    'command, or 75: not acquired, 79: lost, 69: the store cannot be reached, 71: the system cannot start a process, 78: a ' +
    'setting is wrong.',
  operands: [leaseName],
  takesCommand: true,
  options: {
    try: { type: 'switch', description: 'Do not wait: exit with 75 if the lease is held' },
    wait: { type: 'duration', short: 'w', description: 'The longest wait; without end unless given' },
    restart: { type: 'switch', short: 'r', description: 'After a loss, acquire again and start over' },
    permits: { type: 'count', value: 'N', short: 'p', description: 'Let N run at a time, not one' },
    every: { type: 'text', value: 'CRON', short: 'e', description: 'Run at each time of a cron expression' },
    'time-zone': { type: 'text', value: 'ZONE', description: 'The time zone of --every; UTC unless given' },
    once: { type: 'text', value: 'KEY', description: 'Run once for this key: not after it has succeeded' },
    ttl: { lease: 'heartbeatTimeout', type: 'duration', description: 'How long a dead holder blocks the others; 30s' },
    'kill-after': { type: 'duration', description: 'From SIGTERM to SIGKILL; 5s, or a quarter of --ttl' },
    owner: {
      lease: 'owner',
      type: 'text',
      value: 'OWNER',
      description: 'The name of the owner; HOST-PID-ID unless given',
    },
    quiet: { type: 'switch', short: 'q', description: 'Do not show who holds the lease during a long wait' },
    'heartbeat-interval': {
      lease: 'heartbeatInterval',
      type: 'duration',
      isRare: true,
      description: 'The time between two heartbeats; from --ttl unless given',
    },
    strategy: {
      lease: 'strategy',
      type: 'choice',
      // `manual` is for programs: it sends no heartbeats.
      words: ['interval', 'eager', 'lazy', 'adaptive'],
      isRare: true,
      description: 'When heartbeats are sent; interval unless given',
    },
    'max-hold': {
      lease: 'maxHold',
      type: 'duration',
      isRare: true,
      description: 'The longest time for the command, which then ends with a loss; not for --every',
    },
    'child-grace': {
      lease: 'childGrace',
      type: 'duration',
      isRare: true,
      description: 'After the release, lock the name for the child leases of other processes to end',
    },
    'unresponsive-after': {
      lease: 'unresponsiveAfter',
      type: 'duration',
      isRare: true,
      description:
        'With heartbeat-thread in the file of --config: stop heartbeats if leasehold hangs for longer; 60s unless given',
    },
    ...storeOptions,
  },
  examples: [
    { line: 'leasehold run backup -- ./backup.sh', description: 'one at a time on this machine' },
    { line: 'leasehold run deploy --try -s redis://db -- make deploy', description: 'or exit with 75' },
    { line: 'leasehold run report --every "0 3 * * *" -- ./report.sh', description: 'once a night' },
  ],
})

export const status = declareCommand({
  name: 'status',
  summary: 'Show who holds leases',
  operands: [{ name: 'NAME', description: 'The name of a lease', repeated: true }],
  options: answerOptions,
  examples: [
    { line: 'leasehold status backup', description: 'one lease of this machine' },
    { line: 'leasehold status a b --store redis://db -o json', description: 'two leases of a server' },
  ],
})

export const list = declareCommand({
  name: 'list',
  summary: 'List leases, by the beginning of their names',
  details: 'A released lease is listed too: its record has the fencing token.',
  operands: [{ name: 'PREFIX', description: 'The beginning of the names', optional: true }],
  options: {
    held: { type: 'switch', description: 'Only leases that somebody holds' },
    ...answerOptions,
  },
  examples: [
    { line: 'leasehold list', description: 'the leases of this user on this machine' },
    { line: 'leasehold list jobs/ --held -o json | jq -r .[].owner', description: 'who works' },
  ],
})

export const watch = declareCommand({
  name: 'watch',
  summary: 'Print a line for each change of a lease',
  details:
    'The first line has the present state. A renewal is no change. With --output json, each line is a JSON value. ' +
    'Goes on when the store fails for a while.',
  operands: [leaseName],
  options: {
    interval: { type: 'duration', description: 'The time between two looks (1s)' },
    lines: { type: 'count', value: 'COUNT', short: 'n', description: 'End after this number of lines' },
    ...answerOptions,
  },
  examples: [
    { line: 'leasehold watch leader --store redis://db', description: 'until Ctrl-C' },
    { line: 'leasehold watch leader -o json -n 2 | tail -n 1', description: 'wait for the next change' },
  ],
})

export const breakCommand = declareCommand({
  name: 'break',
  summary: 'End a lease without its holder',
  details:
    'The holder loses the lease at its next heartbeat. Until the period is over, the name stays locked. ' +
    'Asks on a terminal; elsewhere, it needs --yes. If another owner becomes the holder meanwhile, nothing is changed.',
  operands: [leaseName],
  options: {
    period: { type: 'duration', description: 'How long the name stays locked; else as the store does' },
    reason: { type: 'text', value: 'TEXT', description: 'Kept in the record until the next grant' },
    yes: { type: 'switch', short: 'y', description: 'Do not ask' },
    ...answerOptions,
  },
  examples: [
    { line: 'leasehold break backup', description: 'asks first' },
    { line: 'leasehold break backup --period 10s --reason stuck --yes', description: 'in a script' },
  ],
})

export const release = declareCommand({
  name: 'release',
  summary: 'Release a lease by the id of its grant',
  details:
    'Frees the name at once, and only if that grant is in force; otherwise, nothing is changed, and the exit code is 1. ' +
    'For a grant whose holder is gone for certain; for any other, use break.',
  operands: [leaseName],
  options: {
    grant: { type: 'text', value: 'ID', short: 'g', description: 'The grant id, as status -o json shows it; required' },
    ...answerOptions,
  },
  examples: [
    { line: 'leasehold release backup --grant 1d0b7f3a-2f5e-4a35-9d1e-0c6b5a7e9f21', description: 'frees it' },
  ],
})

export const schedule = declareCommand({
  name: 'schedule',
  summary: 'List, pause, resume and run schedules',
  details:
    'For schedules of @leasehold/recipes and of run --every, on all their instances. list takes the beginning of the names, ' +
    'the other actions need a name. pause needs --reason; a run in progress goes on, and ticks of the pause are not made up ' +
    'for. run-now has one instance do one run, also during a pause, and moves no tick. resume exits with 1 if the schedule ' +
    'is not paused.',
  operands: [
    {
      name: 'ACTION',
      description: 'list, show, pause, resume or run-now',
      words: ['list', 'show', 'pause', 'resume', 'run-now'],
    },
    { name: 'NAME', description: 'The name of the schedule', optional: true },
  ],
  options: {
    reason: { type: 'text', value: 'TEXT', description: 'pause: why, for everyone who looks' },
    for: { type: 'duration', description: 'pause: resume by itself after this time' },
    until: { type: 'text', value: 'TIME', description: 'pause: resume by itself at 2026-01-31T12:00:00Z' },
    by: { type: 'text', value: 'WHO', description: 'pause, run-now: who asks; USER@HOST unless given' },
    ...answerOptions,
  },
  examples: [
    { line: 'leasehold schedule list --store redis://db', description: 'all of a server' },
    { line: 'leasehold schedule pause report --reason "database upgrade" --for 2h', description: 'for all servers' },
    { line: 'leasehold schedule run-now report', description: 'once, on one server' },
  ],
})

export const shards = declareCommand({
  name: 'shards',
  summary: 'Show which process has which shards of a region',
  details:
    'A line for each process of a region of @leasehold/sharding: its address, its shards, how many entities it runs, how many ' +
    'shards it has taken or handed over, and those that it drains. The last line has the shards without an owner. Other ' +
    'partition groups have no entities. The records of the processes can be a few seconds old. The exit code is 1 if no ' +
    'process is there.',
  operands: [{ name: 'NAME', description: 'The name of the region, or of the partition group' }],
  options: answerOptions,
  examples: [
    { line: 'leasehold shards accounts --store redis://db', description: 'a table' },
    { line: 'leasehold shards accounts -o json', description: 'for a program' },
  ],
})

export const ui = declareCommand({
  name: 'ui',
  summary: 'Show a page in the browser: who holds what',
  details:
    'Prints the address of the page, with an access token, and serves it until Ctrl-C. The page is live: all leases, a ' +
    'timeline, elections, schedules and partition groups. The token is new at each start, unless it is in LEASEHOLD_UI_TOKEN ' +
    '(16 characters or more): then it is not printed.',
  operands: [],
  options: {
    listen: { type: 'text', value: 'HOST:PORT', short: 'l', description: 'Where to listen (127.0.0.1:4747)' },
    'allow-changes': { type: 'switch', description: 'Let readers break leases and control schedules' },
    prefix: { type: 'text', value: 'PREFIX', description: 'Show only the names that begin with it' },
    ...storeOptions,
  },
  examples: [
    { line: 'leasehold ui --store redis://db', description: 'the leases of a server' },
    { line: 'leasehold ui --allow-changes --prefix shop/', description: 'a part, with changes' },
  ],
})

export const doctor = declareCommand({
  name: 'doctor',
  summary: 'Check that a store is fit for leases',
  details:
    'In about a second: conditional writes, fresh reads, the clock, the configuration of the server and the permissions of the ' +
    'user. Holds the lease leasehold-doctor for a moment, and touches no other name. The exit code is 1 if a check fails; ' +
    'verify then says which rules of leases the store breaks.',
  operands: [{ name: 'URL', description: 'The URL of the store; or --store, or --config', optional: true }],
  options: answerOptions,
  examples: [
    { line: 'leasehold doctor redis://db', description: 'before the first lease' },
    { line: 'leasehold doctor -c application.conf -o json', description: 'in a deployment' },
  ],
})

export const verify = declareCommand({
  name: 'verify',
  summary: 'Check that a store keeps the rules of leases',
  details:
    'Runs the conformance laws of stores with several clients, under names of its own. It acquires, renews, breaks and ' +
    'releases leases there, touches no other name, and releases all of them at the end. Their records stay as long as the ' +
    'store keeps fencing tokens. The exit code is 1 if the store breaks a law.',
  operands: [],
  options: {
    family: { type: 'text', value: 'FAMILY', short: 'f', description: 'Only the laws of a family, such as exclusion' },
    ttl: { type: 'duration', description: 'The ttl (4s, or more); longer for a slow machine' },
    parallel: { type: 'count', value: 'COUNT', description: 'Laws at the same time (12)' },
    ...answerOptions,
  },
  examples: [
    { line: 'leasehold verify --store redis://db', description: 'in about a minute' },
    { line: 'leasehold verify -c application.conf --family fencing', description: 'one family' },
  ],
})

export const migrate = declareCommand({
  name: 'migrate',
  summary: 'Create the tables or the bucket of a store',
  details:
    'PostgreSQL needs it before the first lease, and after an update of @leasehold/postgres. For MySQL, DynamoDB, NATS and S3, it ' +
    'creates the table or the bucket, if it is missing. Leases stay as they are, and it can be run again at any time. Other ' +
    'stores need no setup.',
  operands: [],
  options: unlimitedOptions,
  examples: [
    { line: 'leasehold migrate --store postgres://localhost/app', description: 'creates the schema leasehold' },
  ],
})

export const config = declareCommand({
  name: 'config',
  summary: 'Show the settings of a lease, and where each was given',
  details:
    'Reads files and environment variables, and asks no store. Secrets are masked. A setting that nothing reads is a ' +
    'warning; contradictory settings are an error.',
  operands: [],
  options: unlimitedOptions,
  examples: [
    { line: 'leasehold config -c application.conf --path shop.import', description: 'one block' },
    { line: 'leasehold config', description: 'the store that is used without options' },
  ],
})

export const advise = declareCommand({
  name: 'advise',
  summary: 'Choose durations from times, failures and costs',
  details:
    'A short ttl is renewed often, and a renewal that fails by bad luck may end a lease whose holder is well. A long ttl ' +
    'leaves the resource without a holder for longer after a crash. The advice is the ttl with the least cost of both.',
  operands: [],
  options: {
    operation: { type: 'duration', description: 'The longest step between two checks (0)' },
    'round-trip': { type: 'duration', description: 'A call to the store; required, or --measure' },
    measure: { type: 'switch', description: 'Take it from the store, by reading' },
    failures: { type: 'number', value: 'COUNT', description: 'Crashes of a holder in an hour (0.01)' },
    'lost-cost': { type: 'number', value: 'COST', description: 'Per lease lost by mistake (1)' },
    'down-cost': { type: 'number', value: 'COST', description: 'Per second without a holder (1)' },
    'bad-luck': { type: 'number', value: 'PART', description: 'Renewals that fail by chance (0.001)' },
    failover: {
      type: 'duration',
      description: 'How fast it must be: asks the store',
    },
    'false-losses-per-year': {
      type: 'number',
      value: 'COUNT',
      description: 'With --failover: allowed (1)',
    },
    ...answerOptions,
  },
  examples: [
    { line: 'leasehold advise --round-trip 20ms --operation 2s --failures 0.1', description: 'by hand' },
    { line: 'leasehold advise --measure --store redis://db --lost-cost 50', description: 'by the store' },
    { line: 'leasehold advise --failover 5s --store redis://db', description: 'by an objective' },
  ],
})

export const explain = declareCommand({
  name: 'explain',
  summary: 'Say why a lease was lost, from flight recordings',
  details:
    'Reads the files that the recorders of @leasehold/recorder wrote, of one process or several: why each lease was lost, who ' +
    'held it when, and how close it was. The exit code is 1 if a replay of the decisions differs from the recording.',
  operands: [{ name: 'FILE', description: 'A recording', repeated: true }],
  options: {
    lease: { type: 'text', value: 'NAME', description: 'Only this lease' },
    svg: { type: 'text', value: 'FILE', completes: 'file', description: 'Draw it to this file' },
    output: answerOptions.output,
  },
  examples: [
    { line: 'leasehold explain recordings/a-lost.rec', description: 'one process' },
    { line: 'leasehold explain a.rec b.rec --svg night.svg', description: 'with a drawing' },
  ],
})

export const completion = declareCommand({
  name: 'completion',
  summary: 'Print the completions for a shell',
  isRare: true,
  operands: [{ name: 'SHELL', description: 'bash, zsh or fish', words: ['bash', 'zsh', 'fish'] }],
  options: {},
  examples: [
    { line: 'source <(leasehold completion bash)', description: 'in ~/.bashrc' },
    { line: 'leasehold completion zsh > ~/.zfunc/_leasehold', description: 'a folder of fpath' },
    { line: 'leasehold completion fish > ~/.config/fish/completions/leasehold.fish', description: 'for fish' },
  ],
})
