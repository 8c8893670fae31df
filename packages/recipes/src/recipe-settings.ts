import { ProviderOptions } from '@leasehold/core/store-kit'

const keepAlive = {
  type: 'switch',
  default: 'true',
  description: 'Whether the process stays alive from start() until stop().',
} as const

const stopTimeout = {
  type: 'duration',
  default: '10s',
  description: 'For how long stop() waits for the work in progress to end after its signal has aborted.',
} as const

/** The settings of each recipe in a configuration, by its kind. After a change: `npm run docs:update`. */
export const recipeSettings = {
  'leader-election': new ProviderOptions('leader-election', {
    resignPause: {
      type: 'duration',
      description:
        'The pause after a term that this process gave up, before it campaigns again. Empty: twice heartbeat-interval, 10 s at most.',
    },
    rank: {
      type: 'number',
      description: 'How good a candidate this process is: the largest is the best. Empty: 0, and not advertised.',
    },
    preempt: {
      type: 'switch',
      default: 'false',
      description: 'Whether this process, while it leads, transfers the leadership to a candidate of a higher rank.',
    },
    advertise: {
      type: 'switch',
      description:
        'Whether a leader can choose this process for a transfer. Empty: with prepare, rank or preempt, where the store can list.',
    },
    stopTimeout,
    keepAlive,
  }),
  'lease-manager': new ProviderOptions('lease-manager', {
    concurrency: {
      type: 'number',
      default: '10',
      description: 'How many names are asked for at the same time, not counting those that are waited for.',
    },
    stopTimeout,
  }),
  'lock-manager': new ProviderOptions('lock-manager', {
    readers: {
      type: 'number',
      default: '16',
      description: 'How many processes may hold one lock shared at the same time; the same for all managers of a name.',
    },
    stopTimeout,
  }),
  once: new ProviderOptions('once', {
    expiresAfter: {
      type: 'duration',
      description:
        'How old an outcome may become. An older one is forgotten, and the work is done again. Empty: no limit.',
    },
    stopTimeout,
  }),
  'partition-group': new ProviderOptions('partition-group', {
    partitions: {
      type: 'number',
      example: '64',
      description: 'The number of partitions; the same for all workers of the group.',
    },
    rebalanceInterval: {
      type: 'duration',
      description: 'The time between two rounds of balancing. Empty: heartbeat-interval.',
    },
    stopTimeout,
    keepAlive,
  }),
  'read-write-lease': new ProviderOptions('read-write-lease', {
    readers: {
      type: 'number',
      example: '100',
      description: 'The most readers at a time; that of the instance that came last counts for all.',
    },
    stopTimeout,
  }),
  semaphore: new ProviderOptions('semaphore', {
    permits: {
      type: 'number',
      example: '3',
      description: 'The number of permits; that of the instance that came last counts for all.',
    },
    stopTimeout,
  }),
  'single-flight': new ProviderOptions('single-flight', {
    cacheSize: {
      type: 'number',
      default: '1000',
      description:
        'How many values one object keeps in memory, those that were asked for last. 0: every get reads the record.',
    },
    stopTimeout,
  }),
  schedule: new ProviderOptions('schedule', {
    cron: {
      type: 'text',
      description:
        'When the work is due, as a cron expression such as "0 3 * * *"; with seconds first if it has 6 parts. Either this or `every`.',
    },
    timeZone: {
      type: 'text',
      default: '"UTC"',
      description: 'The time zone of cron, such as "Europe/Berlin".',
    },
    every: { type: 'duration', description: 'The interval between two ticks, instead of cron.' },
    anchor: {
      type: 'text',
      description:
        'A tick of `every`, in ISO 8601 with Z or an offset; the others are whole intervals away. Empty: the start of 1970 in UTC.',
    },
    atMostFor: { type: 'duration', description: 'The longest time that one work may take. Empty: no limit.' },
    atLeastFor: {
      type: 'duration',
      default: '0s',
      description:
        'For how long the name stays held from the start of a work on, at least. Shorter than every, and not longer than ' +
        'atMostFor. Required where the store keeps no metadata: ' +
        'clocks may there differ by less than it.',
    },
    missed: {
      type: 'choice',
      words: ['skip', 'run-once'],
      default: 'skip',
      description:
        'The fate of ticks for which no instance was there, or which an earlier work overran: skip them, or run the latest.',
    },
    stopTimeout,
    keepAlive,
  }),
} as const
