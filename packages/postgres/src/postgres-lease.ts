import { providerFactory } from '@leasehold/core/store-kit'
import { misconfigured, postgresOptions } from './postgres-options.js'

/**
 * The factory that `lease-class = "@leasehold/postgres"` loads. All leases of one provider with the same options share a store
 * and its connections. Needs pg, which it loads at the first lease. The tables must exist: see `migrate`.
 */
export const postgresLease = providerFactory(postgresOptions, async (options, context) => {
  const { OwnPoolStore } = await loadPools()
  return new OwnPoolStore(options, context)
})

async function loadPools(): Promise<typeof import('./own-pool-store.js')> {
  try {
    return await import('./own-pool-store.js')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause
    throw misconfigured('a configuration of @leasehold/postgres needs pg: npm install pg', cause)
  }
}
