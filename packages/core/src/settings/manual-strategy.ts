import type { RenewalStrategy, RenewalTimes } from './renewal-strategy.js'

/** Sends no heartbeat: `renew()` is called by hand, and without it the validity ends. */
export function manualStrategy(): RenewalStrategy {
  return {
    name: 'manual',
    isManual: true,
    check,
    plan: ({ operationTimeout }) => ({ after: Number.POSITIVE_INFINITY, attemptTimeout: operationTimeout }),
  }
}

function check({ heartbeatTimeout, operationTimeout }: RenewalTimes): string | undefined {
  if (heartbeatTimeout > operationTimeout) return undefined
  return (
    `heartbeatTimeout (${heartbeatTimeout} ms) must be larger than operationTimeout (${operationTimeout} ms), so that a ` +
    'call of renew() can be answered within the validity: raise heartbeatTimeout or lower operationTimeout'
  )
}
