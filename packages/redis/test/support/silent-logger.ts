import type { Logger } from '@leasehold/core'

/** For tests that are not about what is logged. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} }
