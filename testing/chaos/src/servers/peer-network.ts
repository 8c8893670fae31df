import type { PeerAddress } from '@leasehold/testing/peer-address'
import { Mesh } from './mesh.js'
import { PeerFront } from './peer-front.js'

/** The network between the servers of a cluster that all know each of them by one address. */
export class PeerNetwork {
  readonly mesh = new Mesh()
  readonly #fronts: PeerFront[] = []

  /** `hostOf`: where the others look for a server, at the port at which it listens; any port of 127.0.0.1 unless given. */
  address(hostOf?: (server: number) => string): PeerAddress {
    return async (to, target, processes) => {
      const address = hostOf === undefined ? {} : { address: { host: hostOf(to), port: target } }
      const front = await PeerFront.start(this.mesh, { to, target, processes, ...address })
      this.#fronts.push(front)
      return front.port
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#fronts.map((front) => front.close()))
    await this.mesh.close()
  }
}
