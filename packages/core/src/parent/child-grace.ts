import { detailsOf } from '../engine/failures.js'
import { inGroupsOf } from '../engine/lease-group.js'
import { type LeaseRules, rulesOf } from '../engine/lease-rules.js'
import { traitsOf } from '../engine/store-traits.js'
import { callWithin } from '../engine/timed-call.js'
import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import type { LeaseSettings } from '../settings/lease-settings.js'
import { createGrantId } from '../store/grant-id.js'
import type { Grant, LeaseRecord, Metadata } from '../store/lease-record.js'
import type { AcquireOutcome, LeaseStore, ReleaseOutcome } from '../store/lease-store.js'
import type { StoreCall } from '../store/store-call.js'
import { viewOf } from '../store-kit/view-of.js'
import type { Clock } from '../time/clock.js'

/** The key in the metadata of a parent's record by which the parent declares its grace. */
const GRACE_KEY = 'childGrace'

/** The owner of a name that its holder has released, until its children in other processes have ended. */
const ENDING = 'ending (waits for children)'

/** The metadata with the declaration. It is bound to the grant, so that a later grant does not inherit it. */
function declare(metadata: Metadata | undefined, grace: number, grantId: string): Metadata {
  return { ...metadata, [GRACE_KEY]: `${grace} ${grantId}` }
}

/** The grace that the grant in a record declares, in milliseconds; `undefined` if it declares none. */
export function graceOf({ grantId, metadata }: LeaseRecord): number | undefined {
  const [grace, declarer] = (metadata[GRACE_KEY] ?? '').split(' ')
  if (declarer !== grantId || grantId === '') return undefined
  const milliseconds = Number(grace)
  return milliseconds > 0 ? milliseconds : undefined
}

/**
 * The store as the lease uses it: with `childGrace`, it declares the grace in each record, and frees no name early. A
 * release first passes the name to a grant that no child accepts, and frees it when the grace is over. Throws a
 * `LeaseConfigurationError` if the store cannot do that. See docs/internals/hierarchy.md.
 */
export function forChildren(store: LeaseStore, settings: LeaseSettings, clock: Clock): LeaseStore {
  const { childGrace: grace } = settings
  if (grace === undefined) return store
  const rules = rulesOf(settings, traitsOf(store))
  checkGrace(store, rules, grace)
  const lingering = new LingeringRelease(store, rules, grace, clock)
  const view = viewOf(store, {
    acquire: (acquire) => async (request, call) => {
      const metadata = declare(request.metadata, grace, request.grantId)
      return withoutDeclaration(await acquire({ ...request, metadata }, call))
    },
    release: () => (grant, call, metadata) => lingering.release(grant, call, metadata),
    update: (update) => (grant, metadata, call) => update(grant, declare(metadata, grace, grant.grantId), call),
    // The next holder would act before the children in other processes have ended.
    change: () => undefined,
  })
  return inGroupsOf(store, view)
}

function withoutDeclaration(outcome: AcquireOutcome): AcquireOutcome {
  if (!outcome.granted || outcome.previous?.[GRACE_KEY] === undefined) return outcome
  const { [GRACE_KEY]: _, ...previous } = outcome.previous
  return { ...outcome, previous }
}

/** Frees names when the grace is over. */
class LingeringRelease {
  readonly #store: LeaseStore
  readonly #grace: number
  readonly #clock: Clock
  readonly #rules: LeaseRules
  /** The ids under which names wait to be freed, by the ids of the grants before them: a release can be repeated. */
  readonly #endings = new Map<string, string>()

  constructor(store: LeaseStore, rules: LeaseRules, grace: number, clock: Clock) {
    this.#store = store
    this.#grace = grace
    this.#clock = clock
    this.#rules = rules
  }

  /** Resolves when the name waits to be freed: the grant is over, and no child accepts the one that follows it. */
  async release(grant: Grant, call: StoreCall, metadata: Metadata | undefined): Promise<ReleaseOutcome> {
    const { grantId } = grant
    const ending = this.#endings.get(grantId) ?? createGrantId()
    this.#endings.set(grantId, ending)
    const outcome = await this.#store.change?.(grant, { grantId: ending, owner: ENDING }, call)
    if (outcome?.granted === true) {
      this.#freeLater(outcome.grant, this.#clock.now() + this.#grace, metadata)
      return { released: true }
    }
    this.#endings.delete(grantId)
    const holder = outcome?.holder
    // An operator breaks it, or it waits to be freed already: it is not held by another owner.
    const isOther = holder !== undefined && holder.grantId !== grantId && holder.grantId !== ending
    return { released: false, ...(isOther ? { holder } : {}) }
  }

  /** Frees the name at the instant `at`. If this process ends first, the grant expires. */
  #freeLater(ending: Grant, at: number, metadata: Metadata | undefined): void {
    const left = at - this.#clock.now()
    if (left > 0) {
      this.#clock.schedule(left, () => this.#freeLater(ending, at, metadata))
      return
    }
    for (const [grantId, id] of this.#endings) if (id === ending.grantId) this.#endings.delete(grantId)
    const free = (call: StoreCall): Promise<ReleaseOutcome> => this.#store.release(ending, call, metadata)
    callWithin(this.#rules, this.#clock, 'release', free).catch(() => {})
  }
}

function checkGrace({ change, limits }: LeaseStore, rules: LeaseRules, grace: number): void {
  const details = detailsOf(rules)
  if (!(Number.isFinite(grace) && grace > 0 && grace <= rules.ttl)) {
    const message = `childGrace must be more than 0 and at most heartbeatTimeout (${rules.ttl} ms), not ${grace}`
    throw new LeaseConfigurationError(message, details)
  }
  const lacks = change === undefined ? 'hand leases over' : 'keep metadata'
  if (change !== undefined && limits.metadata !== 0) return
  throw new LeaseConfigurationError(
    `childGrace was given, but the ${rules.kind} store cannot ${lacks}, so that children in other processes are not possible: ` +
      'leave it out, or use another store',
    details,
  )
}
