import type { HeartbeatPlan, LeaseEvents, Logger, RenewalStrategy, StoreLease } from '@leasehold/core'
import type { Random } from '../../../packages/testkit/src/random.js'
import { silentLogger } from '../../../packages/testkit/src/silent-logger.js'
import type { VirtualTime } from '../../../packages/testkit/src/time/virtual-time.js'
import type { PlannedFault, UserPart } from './planned-fault.js'

class UserError extends Error {
  override readonly name = 'UserError'
  readonly part: UserPart

  constructor(part: UserPart) {
    super(`the ${part} of the user failed`)
    this.part = part
  }
}

const events: readonly (keyof LeaseEvents)[] = [
  'acquired',
  'renewed',
  'jeopardy',
  'recovered',
  'lost',
  'released',
  'error',
]

const nonsense: readonly [unknown, ...unknown[]] = [
  undefined,
  null,
  Number.NaN,
  -1,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  'soon',
  {},
]

/** The user code of one process, for the leases on the contended name. It misbehaves while a fault of the plan lasts. */
export class UserCode {
  /** For each part that threw: whether one of its errors was reported. */
  readonly #reported = new Map<UserPart, boolean>()
  readonly #faults: readonly Extract<PlannedFault, { kind: 'user-code' }>[]
  readonly #time: VirtualTime
  readonly #random: Random

  constructor(node: number, faults: readonly PlannedFault[], time: VirtualTime, random: Random) {
    this.#faults = faults.filter((fault) => fault.kind === 'user-code').filter((fault) => fault.node === node)
    this.#time = time
    this.#random = random
  }

  /** The parts whose errors were never reported. */
  get unreported(): readonly UserPart[] {
    return [...this.#reported].filter(([, isReported]) => !isReported).map(([part]) => part)
  }

  strategyOver(strategy: RenewalStrategy): RenewalStrategy {
    if (!this.#has('strategy')) return strategy
    return {
      ...strategy,
      check: (times) => strategy.check(times),
      plan: (times, jitter) => {
        const plan = strategy.plan(times, jitter)
        return this.#fails('strategy') ? this.#nonsensePlan(plan) : plan
      },
      observe: (latency) => {
        this.#fails('strategy')
        strategy.observe?.(latency)
      },
    }
  }

  randomOver(random: Random): () => number {
    if (!this.#has('random')) return () => random.next()
    return () => {
      const drawn = random.next()
      return this.#fails('random') ? (this.#random.pick(nonsense) as number) : drawn
    }
  }

  get logger(): Logger {
    if (this.#faults.length === 0) return silentLogger
    const log = (_message: string, details?: unknown): unknown => {
      this.#onReport(details)
      return this.#fails('logger') ? Promise.reject(new UserError('logger')) : undefined
    }
    return { debug: log, info: log, warn: log, error: log }
  }

  listenTo(lease: StoreLease): void {
    if (this.#faults.length === 0) return
    lease.on('error', (error) => this.#onReport(error))
    if (this.#has('callback')) for (const event of events) lease.on(event, this.callBack)
  }

  readonly callBack = (): unknown => (this.#fails('callback') ? this.#rejection() : undefined)

  #has(part: UserPart): boolean {
    return this.#faults.some((fault) => fault.part === part)
  }

  /** Throws if the plan says so now; otherwise returns whether to answer with nonsense. */
  #fails(part: UserPart): boolean {
    const { now } = this.#time
    const fault = this.#faults.find((fault) => fault.part === part && now >= fault.at && now < fault.at + fault.for)
    if (fault?.does !== 'throws') return fault !== undefined
    this.#onThrow(part)
    throw new UserError(part)
  }

  #rejection(): Promise<never> {
    this.#onThrow('callback')
    return Promise.reject(new UserError('callback'))
  }

  /** Errors of a random source or a logger need not be reported: the report could fail as well. */
  #onThrow(part: UserPart): void {
    if ((part === 'strategy' || part === 'callback') && !this.#reported.has(part)) this.#reported.set(part, false)
  }

  #onReport(error: unknown): void {
    for (let cause = error; cause instanceof Error; cause = cause.cause) {
      if (cause instanceof UserError && this.#reported.has(cause.part)) this.#reported.set(cause.part, true)
    }
  }

  #nonsensePlan(plan: HeartbeatPlan): HeartbeatPlan {
    const [one, other] = [this.#random.pick(nonsense), this.#random.pick(nonsense)]
    const plans: readonly [unknown, ...unknown[]] = [
      one,
      { ...plan, after: one },
      { ...plan, attemptTimeout: one },
      { after: one, attemptTimeout: other },
    ]
    return this.#random.pick(plans) as HeartbeatPlan
  }
}
