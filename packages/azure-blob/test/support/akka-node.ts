import type { BlockBlobClient, ContainerClient } from '@azure/storage-blob'
import { wallTime } from '@leasehold/core/store-kit'
import { isStatus } from '../../src/service-answer.js'

/** The settings of a node of Akka.NET, in milliseconds. */
export interface AkkaNodeSettings {
  readonly owner: string
  readonly heartbeatTimeout: number
  readonly heartbeatInterval: number
}

/** The content of the blob of a lease. */
export interface AkkaBody {
  readonly Owner: string
  readonly Time: string
}

/**
 * The operations of a node of Akka.Coordination.Azure on the blob of a lease: it reads it whole, believes its own wall clock, and
 * uploads it again under the ETag that it read, without metadata.
 */
export class AkkaNode {
  readonly #blob: BlockBlobClient
  readonly #settings: AkkaNodeSettings
  #version: string | undefined

  constructor(container: ContainerClient, blobName: string, settings: AkkaNodeSettings) {
    this.#blob = container.getBlockBlobClient(blobName)
    this.#settings = settings
  }

  /** `now` is its wall clock. */
  async acquire(now = wallTime()): Promise<boolean> {
    const { body, etag } = await this.#readOrCreate(now)
    if (body.Owner !== '' && !this.hasTimedOut(body, now)) return false
    return await this.#update(this.#settings.owner, etag, now)
  }

  async heartbeat(now = wallTime()): Promise<boolean> {
    return await this.#update(this.#settings.owner, this.#version ?? '', now)
  }

  async release(now = wallTime()): Promise<boolean> {
    return await this.#update('', this.#version ?? '', now)
  }

  async read(): Promise<AkkaBody> {
    return JSON.parse(String(await this.#blob.downloadToBuffer()))
  }

  /** Its rule for taking over. */
  hasTimedOut({ Time }: AkkaBody, now: number): boolean {
    const { heartbeatTimeout, heartbeatInterval } = this.#settings
    return now > Date.parse(Time) + heartbeatTimeout - 2 * heartbeatInterval
  }

  async #readOrCreate(now: number): Promise<{ body: AkkaBody; etag: string }> {
    if (!(await this.#blob.exists())) {
      const text = textOf('', now)
      const { etag = '' } = await this.#blob.upload(text, text.length, { conditions: { ifNoneMatch: '*' } })
      return { body: JSON.parse(text), etag }
    }
    const { etag = '' } = await this.#blob.getProperties()
    return { body: await this.read(), etag }
  }

  async #update(owner: string, etag: string, now: number): Promise<boolean> {
    const text = textOf(owner, now)
    try {
      const written = await this.#blob.upload(text, text.length, { conditions: { ifMatch: etag } })
      this.#version = written.etag
      return true
    } catch (error) {
      if (isStatus(error, 412)) return false
      throw error
    }
  }
}

/** As its serialiser writes it: without zeros at the end of the fraction. */
function textOf(owner: string, now: number): string {
  const time = new Date(now).toISOString().replace(/\.?0*Z$/, '')
  return `{"Owner":"${owner}","Time":"${time}+00:00"}`
}
