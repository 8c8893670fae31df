import type { Logger } from '@leasehold/core'

/** For tests that are not about logging. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} }
