import { type CasEntry, type CasRegister, casStore } from '@leasehold/core'
import type { StoreSubject } from '@leasehold/testkit'

/** Each client observes the register on a clock of its own; entries can be deleted. */
export const casSubject: StoreSubject = {
  name: 'casStore over a register in memory',
  time: 'virtual',
  clients: true,
  start: (server) => {
    const entries = new Map<string, CasEntry<number>>()
    let version = 0
    const write: CasRegister<number>['create'] = async (name, record) => {
      version += 1
      const createdAt = entries.get(name)?.createdAt ?? server.now() + version
      const entry = { record, version, createdAt }
      entries.set(name, entry)
      return entry
    }
    const register: CasRegister<number> = {
      forgets: true,
      read: async (name) => entries.get(name),
      create: async (name, record, signal) => (entries.has(name) ? undefined : write(name, record, signal)),
      replace: async (name, record, expected, signal) =>
        entries.get(name)?.version === expected ? write(name, record, signal) : undefined,
    }
    return { open: (clock) => casStore(register, { clock }), delete: (name) => entries.delete(name) }
  },
}
