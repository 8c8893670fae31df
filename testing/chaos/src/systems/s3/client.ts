import { GetObjectCommand, NoSuchKey, S3Client } from '@aws-sdk/client-s3'
import type { Clock } from '@leasehold/core'
import { S3Guard, S3LeaseStore } from '@leasehold/s3'
import type { MotoSettings } from '../../servers/moto-service.js'
import { guardedWrite } from '../guarded-write.js'
import type { Connection } from '../system.js'
import { BUCKET } from './bucket.js'

/** Moto takes any keys. */
const credentials = { accessKeyId: 'key', secretAccessKey: 'secret' }

export default function connect(
  { endpoint, operationTimeout }: MotoSettings,
  _names: readonly string[],
  clock: Clock,
): Promise<Connection> {
  const access = { bucket: BUCKET, endpoint, credentials }
  const store = new S3LeaseStore({ ...access, clock })
  const client = new S3Client({ region: 'us-east-1', endpoint, credentials, forcePathStyle: true, maxAttempts: 1 })
  const guard = new S3Guard(access)
  return Promise.resolve({
    store,
    register: (name) => {
      const key = `registers/${name}`
      return {
        write: (value, token) =>
          guardedWrite(guard.write(key, token, { value }, { signal: AbortSignal.timeout(operationTimeout) })),
        read: async () => {
          try {
            const get = new GetObjectCommand({ Bucket: BUCKET, Key: key })
            const { Body } = await client.send(get, { abortSignal: AbortSignal.timeout(operationTimeout) })
            const object = JSON.parse((await Body?.transformToString()) ?? '') as { readonly value: unknown }
            return String(object.value)
          } catch (error) {
            if (error instanceof NoSuchKey) return undefined
            throw error
          }
        },
      }
    },
    close: async () => {
      await store.close()
      client.destroy()
    },
  })
}
