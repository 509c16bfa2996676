class HooksController < ApplicationController
  # ruleid: swarmgate.ruby.csrf-protection-off
  skip_before_action :verify_authenticity_token

  def create
    # ruleid: swarmgate.ruby.mass-assignment
    User.create(params.require(:user).permit!)
    # ok: swarmgate.ruby.mass-assignment
    User.create(params.require(:user).permit(:name, :email))
  end
end

class FeedController < ApplicationController
  # ok: swarmgate.ruby.csrf-protection-off
  skip_before_action :verify_authenticity_token, only: [:webhook]
end

class User < ApplicationRecord
  # ruleid: swarmgate.ruby.line-anchors-in-validation
  validates :name, format: { with: /^[a-z]+$/ }
  # ok: swarmgate.ruby.line-anchors-in-validation
  validates :email, format: { with: /\A[^@]+@[^@]+\z/ }
end
