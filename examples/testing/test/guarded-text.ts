// #region guard
import { Fence } from '@leasehold/core/store'

/** A text that rejects writes under old tokens, as a table does with `UPDATE … WHERE token <= :token`. */
export class GuardedText {
  text: string | undefined
  #largestToken = 0n

  write(fencingToken: bigint | string, text: string): void {
    const fence = new Fence('memory', 'text', fencingToken)
    fence.check(this.#largestToken)
    if (text.length > 1_000) throw new RangeError('the text is too long')
    this.#largestToken = fence.token
    this.text = text
  }
}
// #endregion guard
