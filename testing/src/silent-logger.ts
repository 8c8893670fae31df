import type { Logger } from '@leasehold/core'

/** For tests that are not about log messages. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} }
