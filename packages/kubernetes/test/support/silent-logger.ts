import type { Logger } from '@leasehold/core'

/** For tests that do not check the log. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} }
