import { join } from 'node:path'
import { createLease, LeaseStoreUnfitError } from '@leasehold/core'
import { AbortableCall, type CasRecord, type CasRegister, casStore } from '@leasehold/core/store'
import { eventually, temporaryFolder } from '@leasehold/testing'
import { describeUnless } from '@leasehold/testing/describe-unless'
import { freePort } from '@leasehold/testing/free-port'
import { ServerProcess } from '@leasehold/testing/server-process'
import { expect, it, onTestFinished } from 'vitest'
import { silentLogger } from '../support/held-lease.js'

/** The moto of Debian 12 answers as S3, and ignores `If-Match` of writes. */
const { MOTO_OLD = '' } = process.env
const whyNot =
  MOTO_OLD === '' ? 'MOTO_OLD is not set: set it to a program that runs moto 4 on the given port' : undefined

/** Any program can ask: the service checks no signature, but wants one. */
const headers = {
  authorization: 'AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=b',
  'content-type': 'application/json',
}

/** Records as objects of S3, as the documentation of S3 writes them: `If-None-Match: *` creates, `If-Match` replaces. */
function s3Register(bucket: string): CasRegister<string> {
  const address = (name: string) => `${bucket}/${encodeURIComponent(name)}`
  const put = async (name: string, record: CasRecord, condition: Record<string, string>, signal: AbortSignal) => {
    const body = JSON.stringify(record, (_, value) => (typeof value === 'bigint' ? String(value) : value))
    const answer = await fetch(address(name), { method: 'PUT', headers: { ...headers, ...condition }, body, signal })
    if (answer.status === 412 || answer.status === 409) return undefined
    if (!answer.ok) throw new Error(`S3 answered ${answer.status}`)
    return { version: answer.headers.get('etag') ?? '' }
  }
  return {
    kind: 's3',
    read: async (name, { signal }) => {
      const answer = await fetch(address(name), { headers, signal })
      if (answer.status === 404) return undefined
      const { fencingToken, ...record } = (await answer.json()) as CasRecord
      return {
        version: answer.headers.get('etag') ?? '',
        record: { ...record, fencingToken: BigInt(fencingToken) },
      }
    },
    create: (name, record, { signal }) => put(name, record, { 'if-none-match': '*' }, signal),
    replace: (name, record, version, { signal }) => put(name, record, { 'if-match': version }, signal),
  }
}

/** The address of a bucket. */
async function bucket(): Promise<string> {
  const port = await freePort()
  const server = await ServerProcess.spawn(MOTO_OLD, [String(port)], join(temporaryFolder(), 'moto.log'))
  onTestFinished(async () => void (await server.end()))
  const address = `http://127.0.0.1:${port}/leases`
  await eventually('the service has a bucket', async () => {
    const answer = await fetch(address, { method: 'PUT', headers })
    return answer.ok
  })
  return address
}

describeUnless(whyNot, 'an S3 that accepts If-Match and ignores it', () => {
  it('is refused before the first grant: two owners would both replace the record', { timeout: 60_000 }, async () => {
    const address = await bucket()
    const store = casStore(s3Register(address))
    const lease = createLease(store, 'job', { owner: 'anna', logger: silentLogger })
    const refused = lease.acquire()
    await expect(refused).rejects.toBeInstanceOf(LeaseStoreUnfitError)
    await expect(refused).rejects.toMatchObject({ setting: 'conditional writes', store: 's3' })
    expect((await fetch(`${address}/job`, { headers })).status).toBe(404)
    expect(await store.probe(new AbortableCall())).toContainEqual(
      expect.objectContaining({ check: 'conditional writes', result: 'failed' }),
    )
  })
})
