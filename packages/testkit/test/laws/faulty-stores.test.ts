import { type LeaseRecord, MemoryLeaseStore, type Metadata } from '@leasehold/core'
import type { AcquireOutcome, AcquireRequest, ReleaseOutcome, StoreCall } from '@leasehold/core/store'
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

describe('a store is found out', () => {
  it.each([
    ['whose watches drop every third notification', dropping((count) => count % 3 === 0), [eachRelease, eachTurn]],
    ['whose watches drop all notifications but the first', dropping((count) => count > 1), [eachRelease, eachTurn]],
    ['whose list leaves out names that have expired', WithoutExpired, [expired]],
    ['that drops keys of metadata that begin with __', losing((key) => key.startsWith('__')), [keys]],
    ['that drops the one key that an assignment does not keep', losing((key) => key === '__proto__'), [keys]],
  ] as const)('%s', async (name, Store, expected) => {
    const broken: string[] = []
    for (const law of storeLaws) {
      await checkStoreLaw(law, subjectOf(name, Store)).catch(() => void broken.push(law.name))
    }
    expect(broken).toEqual(expected)
  })
})
