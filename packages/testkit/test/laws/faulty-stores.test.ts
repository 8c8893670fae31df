import { type LeaseRecord, MemoryLeaseStore, type Metadata } from '@leasehold/core'
import type { Decision, NameState, StoredLease } from '@leasehold/core/life-cycle'
import type { AcquireOutcome, AcquireRequest, ReleaseOutcome, RenewOutcome, StoreCall } from '@leasehold/core/store'
import { checkStoreLaw, type StoreSubject, storeLaws } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'

type Faulty = new (...args: ConstructorParameters<typeof MemoryLeaseStore>) => MemoryLeaseStore

/** A store of which one backend drops the notifications that `isDropped` says, counted from 1. */
function dropping(isDropped: (count: number) => boolean): Faulty {
  return class extends MemoryLeaseStore {
    #count = 0

    override async *watch(name: string, call: StoreCall, grantId?: string): AsyncGenerator<LeaseRecord | undefined> {
      for await (const turn of super.watch(name, call, grantId)) {
        this.#count += 1
        if (!isDropped(this.#count)) yield turn
      }
    }
  }
}

class WithoutExpired extends MemoryLeaseStore {
  override async *list(prefix: string, call: StoreCall): AsyncGenerator<LeaseRecord> {
    for await (const record of super.list(prefix, call)) if (record.state !== 'expired') yield record
  }
}

/** The metadata as a codec leaves it that keeps fields of its own beside it. */
function without(metadata: Metadata | undefined, isDropped: (key: string) => boolean): Metadata | undefined {
  return metadata && Object.fromEntries(Object.entries(metadata).filter(([key]) => !isDropped(key)))
}

function losing(isDropped: (key: string) => boolean): Faulty {
  return class extends MemoryLeaseStore {
    override async acquire({ metadata, ...request }: AcquireRequest, call?: StoreCall): Promise<AcquireOutcome> {
      const kept = without(metadata, isDropped)
      return await super.acquire({ ...request, ...(kept === undefined ? {} : { metadata: kept }) }, call)
    }

    override async release(
      ...[grant, call, metadata]: Parameters<MemoryLeaseStore['release']>
    ): Promise<ReleaseOutcome> {
      return await super.release(grant, call, without(metadata, isDropped))
    }
  }
}

type Raise = Parameters<MemoryLeaseStore['raiseToken']>

/** A store whose raises write another record. */
function raisingTo(changed: (next: StoredLease, before: StoredLease, token: bigint) => StoredLease): Faulty {
  return class extends MemoryLeaseStore {
    #raising: bigint | undefined

    override async raiseToken(...[grant, token, call]: Raise): Promise<RenewOutcome> {
      this.#raising = token
      const raised = super.raiseToken(grant, token, call)
      // The store has written the record before its promise is returned.
      this.#raising = undefined
      return await raised
    }

    protected override carryOut<T>(
      name: string,
      call: StoreCall | undefined,
      decide: (state: NameState) => Decision<T>,
    ): T {
      return super.carryOut(name, call, (state) => {
        const decision = decide(state)
        if (this.#raising === undefined || decision.next === undefined || state.lease === undefined) return decision
        return { ...decision, next: changed(decision.next, state.lease, this.#raising) }
      })
    }
  }
}

/** Each grant takes the next number of a counter, like the revision of a store that does not look at the last token. */
class CountingGrants extends MemoryLeaseStore {
  #count = 0n

  protected override carryOut<T>(
    name: string,
    call: StoreCall | undefined,
    decide: (state: NameState) => Decision<T>,
  ): T {
    return super.carryOut(name, call, (state) => {
      const { outcome, next, ...others } = decide(state)
      const { granted, grant } = Object(outcome) as Partial<Extract<AcquireOutcome, { granted: true }>>
      if (granted !== true || next === undefined || next.fencingToken === state.lease?.fencingToken) {
        return { ...others, outcome, next }
      }
      this.#count += 1n
      const counted = { fencingToken: this.#count }
      return { ...others, outcome: { ...outcome, grant: { ...grant, ...counted } }, next: { ...next, ...counted } }
    })
  }
}

/** A store that raises whatever record there is. */
function raisingAll(outcomeOf: (outcome: RenewOutcome) => RenewOutcome): Faulty {
  return class extends MemoryLeaseStore {
    override async raiseToken(...[grant, token, call]: Raise): Promise<RenewOutcome> {
      const outcome = await super.raiseToken(grant, token, call)
      if (outcome.renewed) return outcome
      this.carryOut(grant.name, call, ({ lease }) => {
        return { outcome: undefined, next: lease && { ...lease, fencingToken: token } }
      })
      return outcomeOf(outcome)
    }
  }
}

class WithoutTokenChecks extends MemoryLeaseStore {
  override async raiseToken(...[grant, token, call]: Raise): Promise<RenewOutcome> {
    return typeof token === 'bigint' && token >= 0n && token < 2n ** 63n
      ? await super.raiseToken(grant, token, call)
      : await this.renew(grant, call)
  }
}

function subjectOf(name: string, Store: Faulty): StoreSubject {
  return {
    name,
    time: 'virtual',
    serverTime: true,
    start: (clock) => {
      const store = new Store({ clock })
      return { open: () => store, delete: (lease) => store.delete(lease) }
    },
  }
}

const eachRelease = 'a watch that stays open yields after each of many releases'
const eachTurn = 'the watch of each waiter in a queue yields when it is its turn'
const expired = 'yields a name whose lease has expired, as a read does'
const keys = 'no key is lost, also of names that the language or a store uses itself'

const raising = {
  largerLater: 'every client sees the raised token, and later grants have larger ones',
  afterExpiry: 'a grant after the expiry of a raised one has a larger token',
  notLarger: 'a token that is not larger changes nothing',
  repeated: 'repeated, also with the grant as it was before, succeeds and changes nothing',
  staysInForce: 'the grant stays in force: it is renewed, repeated with its token, and released',
  restarts: 'restarts the ttl',
  over: 'a grant that was released or taken cannot be raised',
  noBigint: 'a token that is no bigint, or too large to count on from, is rejected and changes nothing',
  passedOn: 'a lease that is passed on afterwards has a larger token',
  metadata: 'metadata stays, and is still the grant’s own to change',
  broken: 'a broken grant cannot be raised, and the grant after a raised one that was broken has a larger token',
} as const
const { largerLater, afterExpiry, staysInForce, over, passedOn } = raising

describe('a store is found out', () => {
  it.each([
    ['whose watches drop every third notification', dropping((count) => count % 3 === 0), [eachRelease, eachTurn]],
    ['whose watches drop all notifications but the first', dropping((count) => count > 1), [eachRelease, eachTurn]],
    ['whose list leaves out names that have expired', WithoutExpired, [expired]],
    ['that drops keys of metadata that begin with __', losing((key) => key.startsWith('__')), [keys]],
    ['that drops the one key that an assignment does not keep', losing((key) => key === '__proto__'), [keys]],
    [
      'whose later grants forget the raise',
      CountingGrants,
      [largerLater, afterExpiry, staysInForce, passedOn, raising.broken],
    ],
    ['that raises a grant that is over', raisingAll(() => ({ renewed: true })), [over, raising.broken]],
    [
      'that refuses to raise a grant that is over, but writes the token',
      raisingAll((outcome) => outcome),
      [over, raising.broken],
    ],
    [
      'whose raise ends the grant',
      raisingTo((next) => ({ ...next, grantId: 'another' })),
      [largerLater, raising.notLarger, raising.repeated, staysInForce, raising.restarts, passedOn, raising.metadata],
    ],
    [
      'whose raise sets a smaller token',
      raisingTo((next, _, fencingToken) => ({ ...next, fencingToken })),
      [raising.notLarger],
    ],
    [
      'whose raise does not restart the ttl',
      raisingTo((next, { lockedUntil }) => ({ ...next, lockedUntil })),
      [raising.restarts],
    ],
    ['whose raise drops the metadata', raisingTo((next) => ({ ...next, metadata: {} })), [raising.metadata]],
    ['that takes any token', WithoutTokenChecks, [raising.noBigint]],
  ] as const)('%s', async (name, Store, expected) => {
    const broken: string[] = []
    for (const law of storeLaws) {
      await checkStoreLaw(law, subjectOf(name, Store)).catch(() => void broken.push(law.name))
    }
    expect(broken).toEqual(expected)
  })

  it('by every law of raised tokens', () => {
    const laws = storeLaws.filter(({ family }) => family === 'raising tokens')
    expect(laws.map(({ name }) => name)).toEqual(Object.values(raising))
  })
})
