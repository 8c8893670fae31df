import { randomUUID } from 'node:crypto'
import { S3Client } from '@aws-sdk/client-s3'
import { S3LeaseStore, type S3LeaseStoreOptions } from '@leasehold/s3'
import type { MotoServer } from '@leasehold/testing/moto-server'
import { credentials } from './credentials.js'

/** The two ways to reach a bucket. */
export const ways = ['fetch', 'sdk'] as const
export type Way = (typeof ways)[number]

/** A bucket of its own on a moto. */
export class MotoBucket {
  readonly name: string
  readonly #url: string

  private constructor(name: string, url: string) {
    this.name = name
    this.#url = url
  }

  /** `url`: the address of moto. */
  static async create({ url }: Pick<MotoServer, 'url'>): Promise<MotoBucket> {
    const name = `leases-${randomUUID()}`
    const answer = await fetch(`${url}/${name}`, { method: 'PUT' })
    if (!answer.ok) throw new Error(`moto answered ${answer.status}`)
    return new MotoBucket(name, url)
  }

  /** `endpoint`: that of moto unless given, such as that of a proxy. */
  access(way: Way, endpoint = this.#url): Pick<S3LeaseStoreOptions, 'bucket' | 'client' | 'endpoint' | 'credentials'> {
    if (way === 'fetch') return { bucket: this.name, endpoint, credentials }
    const client = new S3Client({ region: 'us-east-1', endpoint, credentials, forcePathStyle: true, maxAttempts: 1 })
    return { bucket: this.name, client }
  }

  store(way: Way = 'fetch', options: Partial<S3LeaseStoreOptions> = {}, endpoint?: string): S3LeaseStore {
    return new S3LeaseStore({ ...this.access(way, endpoint), ...options })
  }
}
