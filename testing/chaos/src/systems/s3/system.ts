import { motoProgram } from '@leasehold/testing/moto-server'
import { startMoto } from '../../servers/moto-service.js'
import type { System } from '../system.js'
import { BUCKET } from './bucket.js'

/** The shortest ttl of the store. */
const timeouts = { ttl: 5_000, heartbeatInterval: 1_000, operationTimeout: 1_500 }

/** By how much the clocks of two servers may differ: what the store assumes. */
const clockDifference = 2_000

/**
 * A bucket of moto. Its clock is set further forward only with `--with set-clock-forward`: a challenger then takes over too early,
 * which is a documented limit.
 */
export const s3System: System = {
  name: 's3',
  title: 'one moto as S3, which gets one request at a time',
  whyNot: motoProgram.whyNot,
  timeouts,
  // A dead holder is observed for its ttl by each challenger that has no two times of the service to compare.
  longestRecovery: 20_000,
  client: new URL('client.ts', import.meta.url),
  start: ({ clients }) =>
    startMoto({ clients, ...timeouts, clockDifference }, async (endpoint) => {
      const answer = await fetch(`${endpoint}/${BUCKET}`, { method: 'PUT' })
      if (!answer.ok) throw new Error(`moto answered ${answer.status}`)
    }),
}
