import { environmentOf } from '../lease/lease-environment.js'
import type { LeaseFactory } from '../lease/lease-factory.js'
import { StoreLease } from '../store-lease/store-lease.js'
import { MemoryLeaseStore } from './memory-lease-store.js'

const makeLease: LeaseFactory = async (settings, context) => {
  const { configPath, clock, share } = context
  const store = await share(`memory:${configPath}`, () => new MemoryLeaseStore({ clock }))
  return new StoreLease(settings, store, environmentOf(context))
}

/** The factory of leases in memory: leases of one provider and one config path share a store. */
export const memoryLease: LeaseFactory = Object.assign(makeLease, { optionKeys: [] })
