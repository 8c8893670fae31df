import type { Clock } from '@leasehold/core'
import type { Random } from '@leasehold/simulator'
import { NotDeliveredError } from '../../src/delivery-errors.js'
import type { Batch, Receipt } from '../../src/message.js'
import type { BatchHandler, Transport } from '../../src/transport.js'

interface Station {
  readonly clock: Clock
  readonly handler: BatchHandler
}

/** The network between the processes of a schedule: what arrives at a machine runs on its clock, when the machine runs. */
export class SimulatedNetwork {
  readonly #stations = new Map<string, Station>()

  /** The transport of one process. `longest`: how long a batch or its receipts take, in milliseconds. */
  transport(address: string, clock: Clock, random: Random, longest: number): Transport {
    return {
      address,
      listen: async (_, handler) => {
        this.#stations.set(address, { clock, handler })
      },
      send: (to, batch, signal) => this.#send({ to, text: JSON.stringify(batch), signal, clock, random, longest }),
      close: async () => {
        if (this.#stations.get(address)?.clock === clock) this.#stations.delete(address)
      },
    }
  }

  #send({ to, text, signal, clock, random, longest }: Sending): Promise<readonly Receipt[]> {
    return new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
      const station = this.#stations.get(to)
      if (station === undefined || random.chance(0.03)) {
        clock.schedule(random.between(0, longest), () => reject(new NotDeliveredError(`nobody listens at ${to}`)))
        return
      }
      const arrive = async (): Promise<void> => {
        // The process may have died meanwhile.
        if (this.#stations.get(to) !== station) return
        const receipts = await station.handler(JSON.parse(text) as Batch)
        if (random.chance(0.04)) return
        const answer = JSON.stringify(receipts)
        clock.schedule(random.between(0, longest), () => resolve(JSON.parse(answer)))
      }
      // A late one comes after its sender has given it up.
      const late = random.chance(0.05) ? 30 : 1
      if (!random.chance(0.04)) station.clock.schedule(random.between(0, longest) * late, () => void arrive())
      if (random.chance(0.05)) station.clock.schedule(random.between(0, longest) * 30, () => void arrive())
    })
  }
}

interface Sending {
  readonly to: string
  readonly text: string
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly random: Random
  readonly longest: number
}
