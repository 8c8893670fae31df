import type { Operation } from './operation.js'

/** A call and its outcome, without the client and the time: `write 5/2.1 token 7 accepted`. */
export function describeOperation(operation: Operation): string {
  const parts: string[] = [operation.call]
  if (operation.call === 'write' || (operation.call === 'read' && operation.outcome === 'read')) {
    parts.push(operation.value ?? 'nothing')
  }
  if ('token' in operation && operation.token !== undefined) parts.push(`token ${operation.token}`)
  if (operation.outcome !== operation.call) parts.push(operation.outcome)
  return parts.join(' ')
}
