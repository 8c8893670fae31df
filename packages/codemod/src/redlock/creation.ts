import ts from 'typescript'
import { type Change, refuseComments } from './change.js'
import { NotSure } from './not-sure.js'
import { defaultRetries, type RetrySettings, retrySettingsOf } from './retry-settings.js'

/** `new Redlock([client], settings)` becomes `new RedisLeaseStore(client)`. Throws a `NotSure`. */
export function changeCreation(creation: ts.NewExpression): Change {
  const file = creation.getSourceFile()
  const [clients, , scripts] = creation.arguments ?? []
  if (clients === undefined || !ts.isArrayLiteralExpression(clients))
    throw new NotSure(creation, 'the clients are not listed here: make a RedisLeaseStore of @leasehold/redis by hand')
  const [client, another] = clients.elements
  if (another !== undefined)
    throw new NotSure(creation, 'redlock uses several servers here: make a store of @leasehold/redis-quorum by hand')
  if (client === undefined || ts.isSpreadElement(client))
    throw new NotSure(creation, 'the client is not visible here: make a RedisLeaseStore of @leasehold/redis by hand')
  if (scripts !== undefined)
    throw new NotSure(
      creation,
      'redlock runs scripts of yours here: make a RedisLeaseStore of @leasehold/redis by hand',
    )
  if (/(from|require\()\s*['"]redis['"]/.test(file.text))
    throw new NotSure(
      creation,
      'the client may be an old one of node-redis: RedisLeaseStore takes node-redis 5 or later, so make it by hand',
    )
  refuseComments(file, creation.getStart(), client.getStart(), creation)
  // Comments on the settings of redlock go with them.
  return {
    file,
    imports: ['RedisLeaseStore'],
    edits: [{ start: creation.getStart(), end: creation.end, text: `new RedisLeaseStore(${client.getText()})` }],
  }
}

/** The retry settings that calls of this instance inherit. */
export function retriesOf(creation: ts.NewExpression): RetrySettings {
  const unknown = { retryCount: undefined, retryDelay: undefined }
  return retrySettingsOf(creation.arguments?.[1], defaultRetries) ?? unknown
}
