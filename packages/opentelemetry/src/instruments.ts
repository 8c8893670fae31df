import type { Attributes, Counter, Histogram, Meter, Observable, ObservableCallback } from '@opentelemetry/api'

/** What the semantic conventions of OpenTelemetry advise for the duration of client operations, in seconds. */
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]

/** Leases are held, and schedules and hand-overs are late, for longer than a request takes. */
const LONG_SECONDS = [...SECONDS, 30, 60, 300, 1_800, 3_600, 21_600, 86_400]

/** Narrow where it becomes dangerous. */
const MARGINS = [0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]

/** The name that the alerts on client-go know. */
const MASTER_STATUS = 'leader_election_master_status'

/** What the observable instruments show when the metrics are collected. */
export type Reading = (observe: (value: number, attributes: Attributes) => void) => void

export interface Readings {
  readonly held: Reading
  readonly waiting: Reading
  readonly leastValidity: Reading
  readonly leaders: Reading
  readonly partitions: Reading
  readonly permits: Reading
  readonly entities: Reading
  readonly waitingMessages: Reading
  /** Absent unless the user asked for it. */
  readonly masterStatus?: Reading | undefined
}

/** The instruments of one meter. */
export class Instruments {
  readonly acquireDuration: Histogram
  readonly holdDuration: Histogram
  readonly lost: Counter
  readonly jeopardy: Counter
  readonly renewalDuration: Histogram
  readonly renewalMargin: Histogram
  readonly storeDuration: Histogram
  readonly handoverDuration: Histogram
  readonly stall: Histogram
  readonly scheduleRuns: Counter
  readonly scheduleLag: Histogram
  readonly guardRejected: Counter
  readonly regionMessages: Counter
  readonly regionMoves: Counter
  readonly #removals: (() => void)[] = []

  constructor(meter: Meter, readings: Readings | undefined) {
    const histogram = (name: string, unit: string, boundaries: readonly number[], description: string): Histogram =>
      meter.createHistogram(name, { unit, description, advice: { explicitBucketBoundaries: [...boundaries] } })
    const seconds = (name: string, description: string) => histogram(name, 's', SECONDS, description)
    const longSeconds = (name: string, description: string) => histogram(name, 's', LONG_SECONDS, description)
    const counter = (name: string, unit: string, description: string): Counter =>
      meter.createCounter(name, { unit, description })

    this.acquireDuration = seconds('leasehold.acquire.duration', 'Duration of calls that ask for a lease.')
    this.holdDuration = longSeconds('leasehold.hold.duration', 'For how long leases were held.')
    this.lost = counter('leasehold.lost', '{lease}', 'Leases that ended without a release.')
    this.jeopardy = counter(
      'leasehold.jeopardy',
      '{event}',
      'Times in which the heartbeats of a lease failed or were late.',
    )
    this.renewalDuration = seconds('leasehold.renewal.duration', 'Duration of heartbeats; a batch of leases is one.')
    this.renewalMargin = histogram(
      'leasehold.renewal.margin',
      '1',
      MARGINS,
      'Validity left when a heartbeat was confirmed, as a part of the time to live.',
    )
    this.storeDuration = seconds('leasehold.store.operation.duration', 'Duration of operations of the store.')
    this.handoverDuration = longSeconds(
      'leasehold.handover.duration',
      'Time without a holder before a lease was acquired.',
    )
    this.stall = seconds('leasehold.event_loop.stall', 'By how much timers of leases were late.')
    this.scheduleRuns = counter('leasehold.schedule.runs', '{run}', 'Due times of schedules, by their outcome.')
    this.scheduleLag = longSeconds(
      'leasehold.schedule.lag',
      'Time from a due time of a schedule to the start of its work.',
    )
    this.guardRejected = counter(
      'leasehold.guard.rejected',
      '{write}',
      'Writes of stale holders that a guard rejected.',
    )
    this.regionMessages = counter(
      'leasehold.region.messages',
      '{message}',
      'Messages to entities and singletons, by their outcome.',
    )
    this.regionMoves = counter(
      'leasehold.region.moves',
      '{shard}',
      'Shards that this process has taken, handed over or lost.',
    )
    if (readings !== undefined) this.#observe(meter, readings)
  }

  /** From now on, the observable instruments show nothing. */
  end(): void {
    for (const remove of this.#removals.splice(0)) remove()
  }

  #observe(meter: Meter, readings: Readings): void {
    const { held, waiting, leastValidity, leaders, partitions, permits, masterStatus } = readings
    const sum = (name: string, unit: string, description: string, read: Reading): void =>
      this.#show(meter.createObservableUpDownCounter(name, { unit, description }), read)
    const gauge = (name: string, unit: string, description: string, read: Reading): void =>
      this.#show(meter.createObservableGauge(name, { unit, description }), read)

    sum('leasehold.lease.held', '{lease}', 'Leases that are held now.', held)
    sum('leasehold.lease.waiting', '{caller}', 'Callers that wait for a lease now.', waiting)
    gauge('leasehold.validity.min', 's', 'The least validity left of the leases that are held now.', leastValidity)
    gauge('leasehold.leader', '1', '1 while this process leads, otherwise 0.', leaders)
    gauge('leasehold.partitions', '{partition}', 'Partitions, as this member sees them.', partitions)
    gauge('leasehold.permits', '{permit}', 'Permits of semaphores, as this process sees them.', permits)
    gauge('leasehold.region.entities', '{entity}', 'Entities that run in this process.', readings.entities)
    gauge(
      'leasehold.region.waiting',
      '{message}',
      'Messages that are held back or on their way.',
      readings.waitingMessages,
    )
    if (masterStatus === undefined) return
    gauge(MASTER_STATUS, '1', '1 while this process leads, otherwise 0: the name that client-go uses.', masterStatus)
  }

  #show(instrument: Observable, read: Reading): void {
    const callback: ObservableCallback = (result) => read((value, attributes) => result.observe(value, attributes))
    instrument.addCallback(callback)
    this.#removals.push(() => instrument.removeCallback(callback))
  }
}
