import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { wallTime } from '@leasehold/core/store-kit'
import { certificate } from '@leasehold/testing'
import { afterAll, describe, expect, it } from 'vitest'
import { ACCOUNT, Azurite } from './support/azurite.js'

const folder = mkdtempSync(join(tmpdir(), 'leasehold-identity-'))
const tls = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') }
const { cert, key } = await certificate()
writeFileSync(tls.cert, cert)
writeFileSync(tls.key, key)
const azurite = await Azurite.start({ tls })

/** The identity service of a machine in the cloud, as App Service has it. */
const identities = createServer((request, response) => {
  const isKnown = request.headers['x-identity-header'] === 'known'
  response.writeHead(isKnown ? 200 : 400, { 'content-type': 'application/json' })
  const expires = Math.round(wallTime() / 1_000) + 3_600
  response.end(
    JSON.stringify(isKnown ? { access_token: tokenUntil(expires), expires_on: expires, token_type: 'Bearer' } : {}),
  )
})
await new Promise<void>((resolve) => identities.listen(0, '127.0.0.1', resolve))

afterAll(async () => {
  identities.close()
  await azurite.stop()
  rmSync(folder, { recursive: true })
})

/** Azurite checks the content of a token, not its signature. */
function tokenUntil(exp: number): string {
  const issuer = 'https://sts.windows.net/00000000-0000-0000-0000-000000000000/'
  const claims = { aud: 'https://storage.azure.com', iss: issuer, nbf: exp - 7_200, iat: exp - 7_200, exp }
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${part({ typ: 'JWT', alg: 'RS256' })}.${part(claims)}.${Buffer.from('signature').toString('base64url')}`
}

/** The output of a process that claims a lease with this credential. */
async function claimBy(credential: string, header: string): Promise<string> {
  const file = new URL('./support/identity-child.ts', import.meta.url).pathname
  const endpoint = `https://127.0.0.1:${azurite.port}/${ACCOUNT}`
  const options = ['--import', 'tsx', '--conditions', '@leasehold/source', file, endpoint, credential]
  const identity = {
    IDENTITY_ENDPOINT: `http://127.0.0.1:${(identities.address() as AddressInfo).port}`,
    IDENTITY_HEADER: header,
  }
  // Only the variables of the credential, and the certificate, which Node reads at its start.
  const env = { PATH: '/nowhere', HOME: folder, NODE_EXTRA_CA_CERTS: tls.cert, ...identity }
  const child = spawn(process.execPath, options, { env })
  let said = ''
  child.stdout.on('data', (text) => {
    said += text
  })
  child.stderr.on('data', (text) => process.stderr.write(text))
  await new Promise((resolve) => child.once('close', resolve))
  return said
}

describe.concurrent('a lease by an identity, over HTTPS', () => {
  it.each(['default', 'managed-identity'])(
    'is acquired by the credential %s',
    { timeout: 60_000 },
    async (credential) => {
      expect(await claimBy(credential, 'known')).toBe('granted: true')
    },
  )

  it('is refused as unauthorised where the credential gives no token', { timeout: 60_000 }, async () => {
    expect(await claimBy('managed-identity', 'unknown')).toMatch(/^unauthorised: .*the credential gave no token$/)
  })
})
