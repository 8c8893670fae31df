// #region guard
import { LeaseLostError } from '@leasehold/core'
import { checkFencingToken } from '@leasehold/core/store'

/** A text that rejects writes under old tokens, as a table does with `UPDATE … WHERE token <= :token`. */
export class GuardedText {
  text: string | undefined
  #largestToken = 0n

  write(text: string, fencingToken: bigint | string): void {
    const token = checkFencingToken(fencingToken)
    if (token < this.#largestToken) throw new LeaseLostError(`the token ${token} is old`, { reason: 'taken' })
    if (text.length > 1_000) throw new RangeError('the text is too long')
    this.#largestToken = token
    this.text = text
  }
}
// #endregion guard
