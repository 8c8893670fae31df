import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { LeaseLostError } from '@leasehold/core'
import { LocalGuard, LocalLeaseStore } from '@leasehold/local'
import type { Connection, GuardedRegister } from '../system.js'
import type { LocalClientSettings } from './settings.js'

/** A register is a file that is replaced in one step under the guard of the package. */
export default function connect({ leases, registers }: LocalClientSettings): Promise<Connection> {
  const store = new LocalLeaseStore({ folder: leases })
  const guard = new LocalGuard({ folder: leases })
  return Promise.resolve({
    store,
    register: (name) => registerIn(join(registers, name), name, guard),
    close: async () => {
      await store.close()
      await guard.close()
    },
  })
}

function registerIn(file: string, name: string, guard: LocalGuard): GuardedRegister {
  return {
    async write(value, token) {
      try {
        guard.transact(name, token, () => {
          // One writer at a time, so that all may use the same name.
          writeFileSync(`${file}.new`, value)
          renameSync(`${file}.new`, file)
        })
        return 'accepted'
      } catch (error) {
        if (error instanceof LeaseLostError) return 'refused'
        throw error
      }
    },
    async read() {
      try {
        return readFileSync(file, 'utf8')
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
        throw error
      }
    },
  }
}
