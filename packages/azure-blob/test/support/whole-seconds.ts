import type { BlockBlobClient, ContainerClient } from '@azure/storage-blob'
import type { Clock } from '@leasehold/core'

/** The headers with times. */
interface Times {
  readonly etag?: string
  date?: Date
  lastModified?: Date
}

const SECOND = 1_000

/**
 * The whole seconds of the service, in the time of the test: a second ends only when a store waits for its end, or when the
 * test ends it. The tests then do not depend on the speed of the machine.
 */
export class WholeSeconds {
  /** How often a store has waited for the end of a second. */
  pauses = 0
  #now = Date.UTC(2030, 0, 1)
  readonly #written = new Map<string, Date>()

  /** For stores: a pause ends the second. */
  readonly clock: Clock = {
    now: () => this.#now,
    schedule: (_, task) => {
      this.pauses += 1
      this.pass()
      const pending = setImmediate(task)
      return () => clearImmediate(pending)
    },
  }

  pass(seconds = 1): void {
    this.#now += seconds * SECOND
  }

  /** The client of a container with these seconds in its answers. */
  in(container: ContainerClient): ContainerClient {
    const getBlockBlobClient = (name: string): BlockBlobClient => this.#patched(container.getBlockBlobClient(name))
    return Object.assign(Object.create(container), { getBlockBlobClient })
  }

  #patched(blob: BlockBlobClient): BlockBlobClient {
    for (const method of ['getProperties', 'download', 'upload', 'setMetadata'] as const) {
      const request = blob[method].bind(blob) as (...args: unknown[]) => Promise<Times>
      Object.assign(blob, { [method]: async (...args: unknown[]) => this.#timed(await request(...args)) })
    }
    return blob
  }

  /** A write by another client counts as written in the second in which it is first seen. */
  #timed<T extends Times>(answer: T): T {
    const { etag = '' } = answer
    const lastModified = this.#written.get(etag) ?? new Date(this.#now)
    this.#written.set(etag, lastModified)
    // Some answers have getters for them.
    return Object.defineProperties(answer, {
      date: { value: new Date(this.#now) },
      lastModified: { value: lastModified },
    })
  }
}
