import type { Logger } from '@leasehold/core'
import { Logger as NestLogger } from '@nestjs/common'

/** The logger of Nest, with the context `Leasehold`. It follows `app.useLogger` and `logger: false`. */
export function nestLogger(): Logger {
  const logger = new NestLogger('Leasehold')
  return {
    debug: (message, details) => logger.debug(message, ...shown(details)),
    info: (message, details) => logger.log(message, ...shown(details)),
    warn: (message, details) => logger.warn(message, ...shown(details)),
    error: (message, details) => logger.error(message, ...shown(details)),
  }
}

/** Nest prints a text that follows the message of an error as its stack. */
function shown(details: unknown): readonly unknown[] {
  if (details === undefined) return []
  return [details instanceof Error ? (details.stack ?? details.message) : details]
}
