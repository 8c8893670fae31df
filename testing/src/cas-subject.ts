import type { LeaseStore } from '@leasehold/core'
import { type CasEntry, type CasRecord, type CasRegister, casStore } from '@leasehold/core/store'
import type { StoreSubject } from '@leasehold/testkit'

/** Each client observes the register on a clock of its own, and can be cut off; entries can be deleted. */
export const casSubject: StoreSubject = {
  name: 'casStore over a register in memory',
  time: 'virtual',
  clients: true,
  start: (server) => {
    const entries = new Map<string, CasEntry<number>>()
    const cut = new Set<LeaseStore>()
    let version = 0
    const write = (name: string, record: CasRecord): CasEntry<number> => {
      version += 1
      const createdAt = entries.get(name)?.createdAt ?? server.now() + version
      const entry = { record, version, createdAt }
      entries.set(name, entry)
      return entry
    }
    const registerOf = (client: () => LeaseStore): CasRegister<number> => {
      const reach = async <T>(answer: () => T | Promise<T>): Promise<T> => {
        if (cut.has(client())) throw new Error('connection refused')
        return await answer()
      }
      return {
        forgets: true,
        timeAfter: () => reach(() => server.now()),
        read: (name) => reach(() => entries.get(name)),
        create: (name, record) => reach(() => (entries.has(name) ? undefined : write(name, record))),
        replace: (name, record, expected) =>
          reach(() => (entries.get(name)?.version === expected ? write(name, record) : undefined)),
        list: async function* (prefix) {
          const listed = await reach(() => [...entries].filter(([name]) => name.startsWith(prefix)))
          for (const [name, entry] of listed) yield { name, ...entry }
        },
      }
    }
    return {
      open: (clock) => {
        const client: LeaseStore = casStore(
          registerOf(() => client),
          { clock },
        )
        return client
      },
      cutOff: (client) => void cut.add(client),
      heal: (client) => void cut.delete(client),
      delete: (name) => entries.delete(name),
      copy: async (name) => {
        const copied = entries.get(name)
        return () => copied && void write(name, copied.record)
      },
    }
  },
}
