import { declareCommand } from '../command-declaration.js'
import { storeOptions } from './store-options.js'

export const run = declareCommand({
  name: 'run',
  summary: 'Run a command under a lease',
  details:
    'Waits for the lease, runs the command, and releases the lease when nothing of the command is alive. If the lease is ' +
    'lost, the command and all its processes are ended before another owner can hold it. Returns the exit code of the ' +
    'command, or 75: not acquired, 79: lost, 69: the store cannot be reached, 78: a setting is wrong.',
  operands: [{ name: 'NAME', description: 'The name of the lease' }],
  takesCommand: true,
  options: {
    try: { type: 'switch', description: 'Do not wait: exit with 75 if the lease is held' },
    wait: {
      type: 'duration',
      value: 'DURATION',
      short: 'w',
      description: 'Wait so long at most; without end unless given',
    },
    restart: { type: 'switch', short: 'r', description: 'After a loss, acquire again and start over' },
    permits: { type: 'count', value: 'N', short: 'p', description: 'Let N run at a time, not one' },
    every: { type: 'text', value: 'CRON', short: 'e', description: 'Run at each time of a cron expression' },
    'time-zone': { type: 'text', value: 'ZONE', description: 'The time zone of --every; UTC unless given' },
    once: { type: 'text', value: 'KEY', description: 'Run once for this key: not after it has succeeded' },
    ttl: {
      type: 'duration',
      value: 'DURATION',
      description: 'How long a dead holder blocks the others; 30s',
    },
    'kill-after': {
      type: 'duration',
      value: 'DURATION',
      description: 'From SIGTERM to SIGKILL; 5s, or a quarter of --ttl',
    },
    owner: { type: 'text', value: 'OWNER', description: 'The name of the owner; HOST-PID-ID unless given' },
    quiet: { type: 'switch', short: 'q', description: 'Do not show who holds the lease during a long wait' },
    ...storeOptions,
  },
  examples: [
    { line: 'leasehold run backup -- ./backup.sh', description: 'one at a time on this machine' },
    { line: 'leasehold run deploy --try -s redis://db -- make deploy', description: 'or exit with 75' },
    { line: 'leasehold run report --every "0 3 * * *" -- ./report.sh', description: 'once a night' },
  ],
})
