// #region subject
import type { GuardSubject } from '@leasehold/testkit'
import { describeGuardLaws } from '@leasehold/testkit/vitest'
import { GuardedText } from './guarded-text.js'

const tooLong = 'x'.repeat(1_001)

const subject: GuardSubject = {
  name: 'GuardedText',
  guards: false, // it guards itself: there is one
  start: () => {
    const guarded = new GuardedText()
    return {
      open: () => ({ write: (text, token) => guarded.write(token, text) }),
      read: () => guarded.text,
      ownFailures: [
        {
          name: 'a text that is too long',
          guarded: (guard, token) => guard.write(tooLong, token),
          unguarded: () => new GuardedText().write(0n, tooLong),
        },
      ],
    }
  },
}

describeGuardLaws(subject)
// #endregion subject
