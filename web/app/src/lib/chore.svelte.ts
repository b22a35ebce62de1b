/** What a row of buttons does: one thing at a time, in the order it was asked for. What it says, or why it failed, is told below them. */
import { Taken } from '../shelf/lock';
import { inPlainWords } from './knobs';

type Work = () => Promise<string>;

export class Chore {
    busy = $state(false);
    said = $state('');
    wrong = $state(false);
    private readonly asked = new Map<string, Work>();

    /** After what was asked for before. `what` is not done twice: asked for again before it is done, it is one and the same. */
    async do(what: string, work: Work): Promise<void> {
        if (this.asked.has(what)) return;
        this.asked.set(what, work);
        if (this.busy) return;
        Object.assign(this, { busy: true, wrong: false, said: '' });
        for (const [name, next] of this.asked) {
            await this.one(next);
            this.asked.delete(name);
        }
        this.busy = false;
    }

    private async one(work: Work): Promise<void> {
        try {
            this.say(await work());
        } catch (error) {
            this.wrong = true;
            this.say(inPlainWords((error as Error).message));
            if (error instanceof Taken) void this.untilOver(error);
        }
    }

    private say(what: string): void {
        this.said = [this.said, what].filter(Boolean).join(' ');
    }

    /** What was true then is not said any longer than that. */
    private async untilOver(taken: Taken): Promise<void> {
        const { said } = this;
        await taken.over();
        if (this.said === said) Object.assign(this, { wrong: false, said: 'It is not open in another tab any more.' });
    }
}
