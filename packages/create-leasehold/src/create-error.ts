import { exitCodes } from './exit-codes.js'

/** Nothing was created. The message says why, and what to do. */
export abstract class CreateError extends Error {
  abstract readonly exitCode: number
}

/** The command line is wrong. */
export class UsageError extends CreateError {
  override readonly name = 'UsageError'
  readonly exitCode = exitCodes.usage
}

/** The folder is not empty, or cannot be written. */
export class FolderError extends CreateError {
  override readonly name = 'FolderError'
  readonly exitCode = exitCodes.cannotCreate
}

/** The user has pressed Ctrl-C. */
export class InterruptedError extends CreateError {
  override readonly name = 'InterruptedError'
  readonly exitCode = exitCodes.interrupted

  constructor() {
    super('nothing was written')
  }
}

/** The input has ended before all questions were answered. */
export class NoInputError extends CreateError {
  override readonly name = 'NoInputError'
  readonly exitCode = exitCodes.noInput

  constructor() {
    super('the input has ended, and nothing was written: give --store and --recipe, or --yes')
  }
}
