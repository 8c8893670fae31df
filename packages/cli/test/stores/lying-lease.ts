import { type LeaseSettings, StoreLease } from '@leasehold/core'
import { type CasEntry, casStore } from '@leasehold/core/store'

/** Over a register that accepts the condition of a write and ignores it, as S3-compatible services do. */
export function lyingLease(settings: LeaseSettings): StoreLease {
  const entries = new Map<string, CasEntry<number>>()
  let version = 0
  const register = {
    kind: 'lying',
    read: async (name: string) => entries.get(name),
    create: async (name: string, record: CasEntry<number>['record']) =>
      entries.has(name) ? undefined : await register.replace(name, record),
    replace: async (name: string, record: CasEntry<number>['record']) => {
      version += 1
      entries.set(name, { record, version })
      return { version }
    },
  }
  return new StoreLease(settings, casStore(register))
}
