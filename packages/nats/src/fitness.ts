import type { StoreFinding } from '@leasehold/core/store'
import { clockFinding } from '@leasehold/core/store-kit'
import type { BucketConfig, BucketInfo } from './bucket.js'

/** The fewest replicas of which the loss of one loses nothing. */
const REPLICAS = 3

/** Whether the settings of the bucket keep what was written. */
export function findingsOf(bucket: string, { config, cluster }: BucketInfo): readonly StoreFinding[] {
  const isClustered = cluster?.name !== undefined
  return [
    finding(
      'replicas',
      isClustered &&
        config.num_replicas < REPLICAS && {
          setting: 'num_replicas',
          found: `the bucket '${bucket}' has ${config.num_replicas} of the ${REPLICAS} replicas that a cluster needs, so that the loss of a server loses grants`,
          change: `run 'nats stream edit KV_${bucket} --replicas=${REPLICAS}'`,
        },
    ),
    finding(
      'storage',
      config.storage === 'memory' && {
        setting: 'storage',
        found: `the bucket '${bucket}' is kept in memory, so that a restart of servers loses grants`,
        change: `make another one with 'nats kv add NAME --storage=file'`,
      },
    ),
    finding(
      'storage',
      config.persist_mode === 'async' && {
        setting: 'persist_mode',
        found: `the bucket '${bucket}' confirms writes before they are stored`,
        change: `make another one without this setting`,
      },
    ),
    finding('retention', forgets(bucket, config)),
    finding(
      'origin',
      (config.mirror !== undefined || config.sources !== undefined) && {
        setting: config.mirror === undefined ? 'sources' : 'mirror',
        found: `the bucket '${bucket}' copies another one, which is written without its conditions`,
        change: 'use the bucket that it copies',
      },
    ),
  ]
}

function forgets(bucket: string, { max_age, max_msgs, max_bytes, discard }: BucketConfig): Fault | false {
  const limit = max_msgs > 0 ? 'max_msgs' : 'max_bytes'
  if (max_age > 0) {
    return {
      setting: 'max_age',
      found: `the bucket '${bucket}' forgets grants that are older than ${max_age / 1e9} s`,
      change: `run 'nats stream edit KV_${bucket} --max-age=0'`,
    }
  }
  return (
    discard !== 'new' &&
    (max_msgs > 0 || max_bytes > 0) && {
      setting: limit,
      found: `the bucket '${bucket}' forgets the oldest grants when it is full (${limit}, discard: old)`,
      change: `run 'nats stream edit KV_${bucket} --discard=new'`,
    }
  )
}

/** Compares the clock of the leader with that of this machine. See `clockFinding`. */
export function clockOf({ ts = '' }: BucketInfo, asked: number, answered: number): StoreFinding {
  return clockFinding(Date.parse(ts), asked, answered)
}

type Fault = Required<Pick<StoreFinding, 'setting' | 'found' | 'change'>>

function finding(check: string, fault: Fault | false): StoreFinding {
  return fault === false ? { check, result: 'ok' } : { check, result: 'failed', ...fault }
}
