// @ts-check
/** @import { OpenedStore } from './contract.js' */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { LocalGuard, LocalLeaseStore } from '@leasehold/local'

const { LEASE_FOLDER: folder = 'leases' } = process.env

/** After how many milliseconds without a heartbeat another process takes over. */
export const heartbeatTimeout = 10_000

export const advice = `The leases are in the folder '${folder}' of this machine. Set LEASE_FOLDER to another one.`

/**
 * The leases, and the data that the holder writes: files in the same folder.
 *
 * @returns {Promise<OpenedStore>}
 */
export async function openStore() {
  const store = new LocalLeaseStore({ folder })
  const guard = new LocalGuard({ folder })
  return {
    store,
    // The guard checks the fencing token, and lets nobody else write meanwhile.
    save: async (key, text, { fencingToken, signal }) => {
      await guard.transact(key, fencingToken, () => writeFileSync(join(folder, `${key}.txt`), text), { signal })
    },
    close: async () => {
      await guard.close()
      await store.close()
    },
  }
}
