/** What a row of buttons does: one thing at a time. What it says, or why it failed, is told below them. */
import { inPlainWords } from './knobs';

export class Chore {
    busy = $state(false);
    said = $state('');
    wrong = $state(false);

    async do(work: () => Promise<string>): Promise<void> {
        if (this.busy) return;
        Object.assign(this, { busy: true, wrong: false, said: '' });
        try {
            this.said = await work();
        } catch (error) {
            Object.assign(this, { wrong: true, said: inPlainWords((error as Error).message) });
        }
        this.busy = false;
    }
}
