import { createServer } from 'node:net'
import type { LeaseSubject } from '@leasehold/testkit'
import { describeLeaseLaws } from '@leasehold/testkit/vitest'
import { PortLease } from '../src/port-lease.js'

/** Free ports below the range that operating systems assign, one for each name. */
class FreePorts {
  #last = 10_000 + (process.pid % 100) * 200

  async next(): Promise<number> {
    for (;;) {
      this.#last += 1
      const port = this.#last
      const server = createServer()
      const isFree = await new Promise<boolean>((resolve) => {
        server.once('error', () => resolve(false))
        server.listen(port, '127.0.0.1', () => resolve(true))
      })
      if (!isFree) continue
      await new Promise((resolve) => server.close(resolve))
      return port
    }
  }
}

const freePorts = new FreePorts()

// #region subject
const portLeases: LeaseSubject = {
  name: 'PortLease',
  time: 'real',
  ttl: 200, // nothing expires here; the laws only wait for this time
  start: () => {
    const portOf = new Map<string, Promise<number>>()
    return {
      abilities: ['any-name'], // no waiting, no fencing tokens, not over a store: those laws are skipped
      open: async ({ name }) => {
        const port = portOf.get(name) ?? freePorts.next()
        portOf.set(name, port)
        return new PortLease(name, await port)
      },
    }
  },
}

describeLeaseLaws(portLeases)
// #endregion subject
