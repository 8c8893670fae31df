import type { Logger } from '@leasehold/core'
import type { FastifyBaseLogger } from 'fastify'

/** A logger of Fastify, such as `fastify.log` or `request.log`: pino takes the details before the message. */
export function fromFastifyLogger(log: FastifyBaseLogger): Logger {
  const write = (level: keyof Logger, message: string, details: unknown): void => {
    if (details === undefined) log[level](message)
    else log[level](details instanceof Error ? { err: details } : { details }, message)
  }
  return {
    debug: (message, details) => write('debug', message, details),
    info: (message, details) => write('info', message, details),
    warn: (message, details) => write('warn', message, details),
    error: (message, details) => write('error', message, details),
  }
}
