/**
 * A process with one instance of a service, which calls an API for a user again and again: `instance.ts HOW FOLDER NAME
 * ADDRESS`. HOW: `own` or `shared` tokens. Sends its parent `called` after each call, and `revoked` if the session has ended.
 */
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { LocalLeaseStore } from '@leasehold/local'
import { createOwnTokens } from './own-tokens.js'
import { createProviderClient, SessionRevokedError } from './provider-client.js'
import { createSharedTokens } from './shared-tokens.js'

const [how, folder = '', name = '', address = ''] = process.argv.slice(2)
const provider = createProviderClient(address, name)
const tokens =
  how === 'own'
    ? createOwnTokens(join(folder, 'tokens.json'), provider)
    : createSharedTokens(new LocalLeaseStore({ folder }), provider)

process.on('SIGTERM', async () => {
  await tokens.stop()
  process.exit()
})
// The demo has ended.
process.on('disconnect', () => process.exit())

/** Calls the API again and again, until the process ends. */
async function callApi(): Promise<never> {
  let refused: string | undefined
  for (;;) {
    try {
      const token = await tokens.accessToken('ada', refused)
      refused = (await provider.readProfile(token)) ? undefined : token
      if (refused === undefined) process.send?.('called')
    } catch (error) {
      if (error instanceof SessionRevokedError) process.send?.('revoked')
      // Another attempt follows: a lease may have been lost.
    }
    await pause(20)
  }
}

await callApi()
