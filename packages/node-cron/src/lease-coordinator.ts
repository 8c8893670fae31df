import { defaultLogger, type LeaseStore, type Logger } from '@leasehold/core'
import { logSafely } from '@leasehold/core/internal'
import { type ClaimedTick, TickClaims, type TickClaimsOptions } from '@leasehold/recipes'
import type { RunCoordinator } from 'node-cron'

/** A key of node-cron: the name of the task, and the tick as an ISO 8601 text. */
const KEY = /^(.*):(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)$/s

/** The options of a `LeaseCoordinator`: those of `TickClaims`. */
export type LeaseCoordinatorOptions = TickClaimsOptions

/**
 * A run coordinator for node-cron: of the tasks with `distributed: true` and the same name, on any number of instances, one
 * runs each tick.
 *
 * Guaranteed: a tick is run at most once, whatever the clocks of the instances say: it is recorded before it is run, and
 * neither this tick nor an earlier one is run again. The end of a run frees the task, never the tick. Two runs of a task do not
 * overlap while their leases are valid, on one instance or on two: the ticks that become due during a run are left out, also
 * without `noOverlap`.
 *
 * Not guaranteed: that each tick is run. A run whose process dies is not repeated. No tick is run while the store cannot be
 * reached, or for up to `distributedLease` milliseconds after the process of a run has died.
 */
export class LeaseCoordinator extends TickClaims implements RunCoordinator {
  protected static override readonly subject = 'LeaseCoordinator'
  readonly #logger: Logger
  /** Whether the options say which ttl the leases have. */
  readonly #hasTtl: boolean
  /** The runs in progress, by the names of their tasks. */
  readonly #runs = new Map<string, { readonly key: string; readonly tick: ClaimedTick }>()
  /** The last key of each task, and whether two tasks of this process have asked for one key. */
  readonly #asked = new Map<string, { readonly key: string; readonly hasTwin: boolean }>()

  /** Throws a `LeaseConfigurationError` if an option is invalid, or if the store keeps no metadata. */
  constructor(store: LeaseStore, options: LeaseCoordinatorOptions = {}) {
    super(store, options)
    const { logger = defaultLogger, heartbeatTimeout, heartbeatInterval, operationTimeout, objective } = options
    this.#logger = logger
    const durations = [heartbeatTimeout, heartbeatInterval, operationTimeout, objective]
    this.#hasTtl = durations.some((duration) => duration !== undefined)
  }

  /**
   * Resolves with whether this instance is to run the tick of a key. `ttlMs`, the `distributedLease` of the task, is the ttl of
   * its lease, unless the options of the coordinator say otherwise; heartbeats renew it during the run. Never rejects: if the
   * store fails, the tick is not run, and the error is reported.
   */
  async shouldRun(key: string, ttlMs: number): Promise<boolean> {
    const { name, due } = tickOf(key)
    this.#noticeTwin(name, key)
    const tick = await this.claim(name, due, this.#hasTtl ? {} : { heartbeatTimeout: ttlMs })
    if (tick !== undefined) this.#runs.set(name, { key, tick })
    return tick !== undefined
  }

  /** Records that the run has ended, and frees the task for its next tick. Never rejects. */
  async onComplete(key: string): Promise<void> {
    const { name } = tickOf(key)
    const run = this.#runs.get(name)
    // After a lost lease, the next tick may have begun already.
    if (run?.key !== key) return
    this.#runs.delete(name)
    await run.tick.end()
  }

  /**
   * The run of a task that is in progress in this process: its `signal`, which aborts if the lease is lost, and its
   * `fencingToken`. `undefined` if none is.
   */
  running(name: string): ClaimedTick | undefined {
    return this.#runs.get(name)?.tick
  }

  /** node-cron asks once for each tick of a task. */
  #noticeTwin(name: string, key: string): void {
    const { key: last, hasTwin = false } = this.#asked.get(name) ?? {}
    const isTwin = last === key
    this.#asked.set(name, { key, hasTwin: hasTwin || isTwin })
    if (!isTwin || hasTwin) return
    const message = `two tasks of node-cron in this process have the name '${name}', and only one of them runs a tick: give each its own name`
    logSafely(this.#logger, 'warn', message)
  }
}

function tickOf(key: string): { readonly name: string; readonly due: Date } {
  const [, name = key, time = ''] = KEY.exec(key) ?? []
  return { name, due: new Date(time) }
}
