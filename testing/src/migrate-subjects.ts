import type { LeaseStore } from '@leasehold/core'
import { migrate } from '@leasehold/core/migrate'
import { viewOf } from '@leasehold/core/store'
import { FaultyStore, type StoreBackend, type StoreSubject } from '@leasehold/testkit'
import { casSubject } from './cas-subject.js'
import { memorySubject } from './memory-subject.js'

/** The laws of a store over `migrate(from, to)`: each client has its own client of both. */
export function migrating(from: StoreSubject, to: StoreSubject): StoreSubject {
  return {
    name: `migrate(${from.name}, ${to.name})`,
    time: 'virtual',
    clients: from.clients === true || to.clients === true,
    serverTime: from.serverTime === true && to.serverTime === true,
    start: async (clock): Promise<StoreBackend> => {
      const [one, other] = [await from.start(clock), await to.start(clock)]
      return {
        open: async (own) => {
          const [client, next] = [await one.open(own), await other.open(own)]
          return migrate(from.clients === true ? client : shared(client), to.clients === true ? next : shared(next))
        },
        delete: async (name) => {
          await one.delete?.(name)
          await other.delete?.(name)
        },
      }
    },
  }
}

/** Closing the store of one client ends no other client. */
function shared(store: LeaseStore): LeaseStore {
  return viewOf(store, { closed: () => undefined, close: () => async () => {} })
}

/** The same store behind one that adds no faults by itself. */
export function undisturbed(subject: StoreSubject): StoreSubject {
  return {
    ...subject,
    name: `${subject.name} behind a network`,
    start: async (clock) => {
      const backend = await subject.start(clock)
      return { ...backend, open: async (own) => new FaultyStore(await backend.open(own), { clock: own }) }
    },
  }
}

export const migratingSubjects: readonly StoreSubject[] = [
  migrating(memorySubject, memorySubject),
  migrating(casSubject, memorySubject),
  migrating(memorySubject, casSubject),
  migrating(undisturbed(memorySubject), undisturbed(memorySubject)),
]
